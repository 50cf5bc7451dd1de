import {
  accountClosed,
  changeDeviceConfig,
  findDeviceCertificate,
  getDevice,
  getOwnConfig,
  listDeviceFaults,
  listDevices,
  renewCertificate,
  reportConfig,
  resumeDevice,
  retireDevice,
  revokeDeviceCertificate,
  sendFaults,
  sendHeartbeat,
  sendInventory,
  suspendDevice,
  updateDevice,
} from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bootstrap, csr, deviceClient, ingress, newEventId, newTenant, nowOf, startDevice } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startDevice();
});
afterAll(() => service.stop());

const twenty = Array.from({ length: 20 }, (_, at) => at);
const typesOf = (events: readonly { type: string }[]) => events.map(({ type }) => type);
const beat = (client: ReturnType<typeof deviceClient>['client'], body = {}) => client.call(sendHeartbeat, { body });

test('a heartbeat tells how things stand, makes the device online once, and is shown to its owner', async () => {
  const tenant = newTenant(service);
  const { client, params, fingerprint } = await tenant.active();
  const first = await beat(client, { firmware_version: '1.2.3', uptime_seconds: 5, manifest_version: 2 ** 40 });
  expect(first.body).toMatchObject({
    status: 'active',
    desired_version: 0,
    manifest_version: 0,
    heartbeat_interval_seconds: 60,
  });
  await beat(client);
  const { body } = await tenant.owner.call(getDevice, { params });
  expect(body).toMatchObject({
    online: true,
    firmware_version: '1.2.3',
    manifest: { version: null, applied_version: 2 ** 40 },
  });
  expect(body.certificate).toMatchObject({ fingerprint, revoked_at: null, revocation_reason: null });
  expect(typesOf(await tenant.events()).filter((type) => type === 'device.online')).toHaveLength(1);
});

test('of heartbeats at once each is judged by its own certificate', async () => {
  const tenant = newTenant(service);
  const devices = await Promise.all(twenty.slice(0, 6).map(() => tenant.active()));
  for (const [at, { client, params }] of devices.entries()) {
    await beat(client); // The first use of a certificate is a transaction of its own.
    const desired = { heartbeat_interval_seconds: 100 + at };
    await tenant.owner.call(changeDeviceConfig, { params, body: { desired } });
  }
  const [revoked] = devices;
  await tenant.owner.call(revokeDeviceCertificate, { params: revoked?.params ?? { id: '' }, body: {} });
  const expected = devices.map((_, at) => (at === 0 ? [401, undefined] : [200, 100 + at]));
  const answers = await Promise.all(
    twenty.map(() =>
      Promise.all(
        devices.map(async ({ client }) => {
          const answer = await beat(client);
          return [answer.status, answer.status === 200 ? answer.body.heartbeat_interval_seconds : undefined];
        }),
      ),
    ),
  );
  expect(answers).toEqual(twenty.map(() => expected));
  const { entries } = (await tenant.owner.call(listDevices, { query: {} })).body;
  expect(entries.every(({ last_seen_at }) => last_seen_at !== null)).toBe(true);
});

test('offline is told once for each silence, and online once at its end', async () => {
  const tenant = newTenant(service);
  const { client, id, params } = await tenant.active();
  const told = async () => typesOf(await tenant.events()).filter((type) => /line$/.test(type));
  for (const silence of [1, 2]) {
    await beat(client);
    await beat(client);
    await service.db.query(`UPDATE device_presence SET last_seen_at = now() - interval '1 hour' WHERE device_id = $1`, [
      id,
    ]);
    expect((await tenant.owner.call(getDevice, { params })).body.online).toBe(false);
    await eventually(async () => expect(await told()).toHaveLength(2 * silence));
  }
  await beat(client);
  expect(await told()).toEqual(['device.online', 'device.offline', 'device.online', 'device.offline', 'device.online']);
});

test('403 and 401: suspended, resumed, revoked and retired hold from the next request, before the body is looked at', async () => {
  const tenant = newTenant(service);
  const { client, params, machine, id } = await tenant.active();
  const call = async () => (await client.call(reportConfig, { body: {} as never })).status;
  expect(await call()).toBe(400);
  const suspended = await tenant.owner.call(suspendDevice, { params });
  expect([suspended.body.status, (await tenant.owner.call(suspendDevice, { params })).body.updated_at]).toEqual([
    'suspended',
    suspended.body.updated_at,
  ]);
  expect([await call(), (await beat(client)).body.status]).toEqual([403, 'suspended']);
  expect((await client.call(renewCertificate, { body: { csr } })).status).toBe(403);
  expect((await tenant.owner.call(resumeDevice, { params })).body).toMatchObject({
    status: 'active',
    suspended_at: null,
  });
  expect((await tenant.owner.call(resumeDevice, { params })).status).toBe(200);
  expect(await call()).toBe(400);
  const revoked = await tenant.owner.call(revokeDeviceCertificate, { params });
  expect(revoked.body.certificate).toMatchObject({ revocation_reason: 'key_compromise' });
  expect([await call(), (await beat(client)).problem?.status]).toEqual([401, 401]);
  expect((await tenant.owner.call(revokeDeviceCertificate, { params })).status).toBe(409);
  const { certificate } = (await bootstrap(service, machine)).body as { certificate: string };
  const next = deviceClient(service, id, tenant.account, certificate).client;
  expect((await beat(next)).status).toBe(200);
  expect((await tenant.owner.call(retireDevice, { params })).body.status).toBe('retired');
  expect((await beat(next)).status).toBe(401);
  for (const change of [suspendDevice, resumeDevice])
    expect((await tenant.owner.call(change, { params })).status).toBe(409);
  expect((await tenant.owner.call(updateDevice, { params, body: { name: 'X' } })).status).toBe(409);
  expect((await tenant.owner.call(changeDeviceConfig, { params, body: { desired: {} } })).status).toBe(409);
  expect((await tenant.owner.call(retireDevice, { params })).status).toBe(200);
});

test('a closed account: its devices are told that they are suspended, and refused all else', async () => {
  const tenant = newTenant(service);
  const { client, fingerprint } = await tenant.active();
  await service.deliver(accountClosed, { account_id: tenant.account }, tenant.account);
  expect([(await beat(client)).body.status, (await client.call(getOwnConfig)).status]).toEqual(['suspended', 403]);
  const found = await ingress(service).call(findDeviceCertificate, { params: { fingerprint } });
  expect(found.body).toMatchObject({ device_status: 'suspended', certificate_status: 'live' });
});

test('a renewed certificate takes over when it is first used, and the former one until then', async () => {
  const tenant = newTenant(service);
  const { client, id, params, fingerprint } = await tenant.active();
  await beat(client);
  const lost = (await client.call(renewCertificate, { body: { csr } })).body;
  const renewed = (await client.call(renewCertificate, { body: { csr } })).body;
  const [unused, next] = [lost, renewed].map(({ certificate }) =>
    deviceClient(service, id, tenant.account, certificate),
  );
  expect((await beat(client)).status).toBe(200);
  expect((await tenant.owner.call(getDevice, { params })).body.certificate?.fingerprint).toBe(fingerprint);
  const asked = await ingress(service).call(findDeviceCertificate, {
    params: { fingerprint: next?.fingerprint ?? '' },
  });
  expect(asked.body).toMatchObject({
    device_id: id,
    account_id: tenant.account,
    device_status: 'active',
    certificate_status: 'live',
  });
  expect([(await beat(client)).status, unused && (await beat(unused.client)).status]).toEqual([401, 401]);
  expect(next && (await beat(next.client)).body.renew_after).toBe(renewed.renew_after);
  const [from, to, at] = [renewed.not_before, renewed.not_after, renewed.renew_after].map(Date.parse) as [
    number,
    number,
    number,
  ];
  expect((at - from) / (to - from)).toBeGreaterThan(0.5);
  expect((at - from) / (to - from)).toBeLessThan(0.75);
  const reasons = (await tenant.events())
    .filter(({ type }) => type === 'certificate.revoked')
    .map(({ data }) => data.reason);
  expect(reasons).toEqual(['superseded', 'superseded']);
  const unknown = await ingress(service).call(findDeviceCertificate, { params: { fingerprint: 'a'.repeat(64) } });
  expect(unknown.status).toBe(404);
});

test('of twenty renewals at once at most two certificates are in force, and each that was given is usable or replaced', async () => {
  const tenant = newTenant(service);
  const { client, id } = await tenant.active();
  await beat(client);
  const answers = await Promise.all(twenty.map(() => client.call(renewCertificate, { body: { csr } })));
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toContain(200);
  expect(statuses.filter((status) => ![200, 409].includes(status))).toEqual([]);
  const { rows } = await service.db.query(
    'SELECT fingerprint FROM device_certificates WHERE device_id = $1 AND revoked_at IS NULL',
    [id],
  );
  expect(rows).toHaveLength(2);
});

test('a device whose certificate is over is refused', async () => {
  const tenant = newTenant(service);
  const { client, fingerprint } = await tenant.active();
  await service.db.query(`UPDATE device_certificates SET not_after = now() - interval '1 s' WHERE fingerprint = $1`, [
    fingerprint,
  ]);
  expect((await beat(client)).status).toBe(401);
});

test('the shadow: desired by merge patch, reported by version, a repeated report answered alike', async () => {
  const tenant = newTenant(service);
  const { client, params } = await tenant.active();
  const patch = (desired: object, more = {}) =>
    tenant.owner.call(changeDeviceConfig, { params, body: { desired: desired as never, ...more } });
  expect((await patch({ volume: 40, deep: { a: 1, b: 2 } })).body).toMatchObject({
    desired_version: 1,
    in_sync: false,
  });
  expect((await patch({ volume: 40 })).body.desired_version).toBe(1);
  expect(
    (await patch({ deep: { a: null }, heartbeat_interval_seconds: 10 }, { desired_version: 1 })).body,
  ).toMatchObject({
    desired: { volume: 40, deep: { b: 2 }, heartbeat_interval_seconds: 10 },
    desired_version: 2,
  });
  expect((await patch({ x: 1 }, { desired_version: 1 })).status).toBe(409);
  for (const bad of [
    { heartbeat_interval_seconds: 9 },
    { heartbeat_interval_seconds: 'x' },
    { big: 'x'.repeat(17_000) },
    { a: { a: { a: { a: { a: { a: { a: { a: {} } } } } } } } },
  ])
    expect((await patch(bad)).status).toBe(400);
  expect((await beat(client)).body).toMatchObject({ desired_version: 2, heartbeat_interval_seconds: 10 });
  const report = (
    reported_version: number,
    applied_version: number,
    reported = { volume: 40 } as Record<string, unknown>,
  ) => client.call(reportConfig, { body: { reported, reported_version, applied_version } });
  const first = await report(0, 1);
  expect(first.body).toEqual({ reported_version: 1, applied_version: 1, desired_version: 2, in_sync: false });
  await patch({ later: true });
  expect((await report(0, 1)).body).toEqual(first.body);
  expect([(await report(0, 1, { other: 1 })).status, (await report(1, 4)).status, (await report(7, 1)).status]).toEqual(
    [409, 409, 409],
  );
  expect((await client.call(getOwnConfig)).body).toMatchObject({
    reported: { volume: 40 },
    reported_version: 1,
    applied_version: 1,
    desired_version: 3,
  });
  expect((await beat(client, { applied_version: 4 })).status).toBe(409);
  await beat(client, { applied_version: 3 });
  expect((await tenant.owner.call(getDevice, { params })).body).toMatchObject({
    in_sync: true,
    config: { reported: { volume: 40 } },
  });
  const raced = await Promise.all(twenty.map((at) => report(1, 3, { at })));
  expect(raced.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)]);
});

test('inventory is kept as it was sent', async () => {
  const tenant = newTenant(service);
  const { client, params } = await tenant.active();
  const body = {
    firmware_version: '2.0',
    outputs: [{ output: 'HDMI-1', connected: true, width_px: 1920, height_px: null }],
    components: { player: '7' },
  };
  expect((await client.call(sendInventory, { body })).status).toBe(204);
  expect((await tenant.owner.call(getDevice, { params })).body).toMatchObject({
    inventory: body,
    firmware_version: '2.0',
  });
  expect((await client.call(sendInventory, { body: { memory_bytes: -1 } })).status).toBe(400);
  expect((await client.call(sendInventory, { body: { components: { a: 'x'.repeat(70_000) } } })).status).toBe(400);
});

test('faults open and end by the newest of their code and component, in whatever order they come', async () => {
  const tenant = newTenant(service);
  const { client, params } = await tenant.active();
  const fault = (minutes: number, more = {}) => ({
    ...{ event_id: newEventId(), code: 'display.off', severity: 'error', component: 'HDMI-1' },
    ...{ occurred_at: nowOf(service, minutes * 60_000), ...more },
  });
  const send = async (...faults: unknown[]) => (await client.call(sendFaults, { body: { faults } })).body;
  const late = fault(2);
  const answer = await send(late, late, { code: 'BAD' }, fault(0, { component: null }), fault(0, { detail: '\0' }));
  expect(answer).toMatchObject({
    accepted: 2,
    duplicates: 1,
    quarantined: [],
    clock_offset_ms: 0,
    rejected: [{ index: 2 }, { index: 4, detail: 'detail: contains a NUL character.' }],
  });
  await send(fault(1, { resolved: true }), late);
  const openFaults = async () => (await tenant.owner.call(getDevice, { params })).body.open_faults;
  expect(await openFaults()).toBe(2);
  await send(fault(3, { resolved: true }));
  expect(await openFaults()).toBe(1);
  const list = (query = {}) => tenant.owner.call(listDeviceFaults, { params, query });
  expect((await list()).body.entries).toHaveLength(4);
  expect((await list({ open: 'true' })).body.entries.map(({ component }) => component)).toEqual([null]);
  expect((await list({ open: 'false' })).body.entries).toHaveLength(3);
  const page = await list({ limit: 3 });
  expect((await list({ limit: 3, cursor: page.body.next_cursor ?? '' })).body.entries).toHaveLength(1);
  const told = typesOf(await tenant.events()).filter((type) => type.startsWith('device.fault'));
  expect(told).toEqual(['device.fault_opened', 'device.fault_opened', 'device.fault_resolved']);
  expect((await client.call(sendFaults, { body: { faults: [] } })).status).toBe(400);
});

test('lists are filtered, paged and narrowed; an installed device is not retired', async () => {
  const tenant = newTenant(service);
  const [one, two, three] = [await tenant.active(), await tenant.claimed(), await tenant.claimed()];
  await beat(one.client);
  const place = await tenant.install(one.id);
  await tenant.install(two.id, false);
  await tenant.owner.call(suspendDevice, { params: three.params });
  await tenant.owner.call(updateDevice, { params: two.params, body: { name: 'Back room' } });
  const idsOf = async (query = {}, client = tenant.owner) =>
    (await client.call(listDevices, { query })).body.entries.map(({ id }) => id);
  expect(await idsOf()).toEqual([one.id, two.id, three.id]);
  expect(await idsOf({ status: 'claimed,suspended' })).toEqual([two.id, three.id]);
  expect(await idsOf({ online: 'true' })).toEqual([one.id]);
  expect(await idsOf({ online: 'false' })).toEqual([two.id, three.id]);
  expect(await idsOf({ query: 'ROOM' })).toEqual([two.id]);
  expect(await idsOf({ query: one.machine.serial.toLowerCase() })).toContain(one.id);
  expect(await idsOf({ group_ids: place.group_id })).toEqual([one.id]);
  expect(await idsOf({ location_ids: place.location_id, status: 'claimed' })).toEqual([]);
  const narrowed = tenant.narrowed([place.group_id]);
  expect(await idsOf({}, narrowed)).toEqual([one.id]);
  expect([
    (await narrowed.call(getDevice, { params: one.params })).status,
    (await narrowed.call(getDevice, { params: two.params })).status,
  ]).toEqual([200, 404]);
  const { body } = await tenant.owner.call(listDevices, { query: { limit: 2 } });
  expect(await idsOf({ limit: 2, cursor: body.next_cursor ?? '' })).toEqual([three.id]);
  expect((await tenant.owner.call(listDevices, { query: { status: 'manufactured' } })).status).toBe(400);
  const { body: seen } = await tenant.owner.call(getDevice, { params: one.params });
  expect(seen).toMatchObject({ installation_id: place.installation_id, location_id: place.location_id });
  expect((await tenant.owner.call(retireDevice, { params: one.params })).status).toBe(409);
  expect((await tenant.owner.call(retireDevice, { params: two.params })).status).toBe(200);
  for (const body of [{ serial: 'X' }, { status: 'active' }, { id: 'x' }, { name: 'a\nb' }])
    expect((await tenant.owner.call(updateDevice, { params: one.params, body: body as never })).status).toBe(400);
  expect((await newTenant(service).owner.call(getDevice, { params: one.params })).status).toBe(404);
});
