import {
  changeDeviceConfig,
  getDevice,
  relayedMost,
  relayedTextMax,
  relayHeartbeats,
  revokeDeviceCertificate,
  suspendDevice,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ingress, newTenant, startDevice } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startDevice();
});
afterAll(() => service.stop());

type Sent = { readonly fingerprint: string; readonly body: string };
const relay = async (...heartbeats: readonly Sent[]) =>
  (await ingress(service).call(relayHeartbeats, { body: { heartbeats: [...heartbeats] } })).body.results;
const unknown = 'ab'.repeat(32);

/** The kind of the problem, or the fields that tell one heartbeat's answer from another's. */
const told = (results: Awaited<ReturnType<typeof relay>>) =>
  results.map((result) =>
    'problem' in result ? result.problem.kind : [result.heartbeat.status, result.heartbeat.heartbeat_interval_seconds],
  );

test('each heartbeat is judged by its own certificate, and its result is in its place', async () => {
  const tenant = newTenant(service);
  const [good, other, revoked, suspended] = await Promise.all([0, 1, 2, 3].map(() => tenant.active()));
  if (!good || !other || !revoked || !suspended) throw new Error('There are four');
  const desired = { heartbeat_interval_seconds: 123 };
  await tenant.owner.call(changeDeviceConfig, { params: other.params, body: { desired } });
  await tenant.owner.call(revokeDeviceCertificate, { params: revoked.params, body: {} });
  await tenant.owner.call(suspendDevice, { params: suspended.params });
  const all = [revoked.fingerprint, good.fingerprint, unknown, other.fingerprint, suspended.fingerprint];
  expect(told(await relay(...all.map((fingerprint) => ({ fingerprint, body: '{}' }))))).toEqual([
    'unauthorized',
    ['active', 60],
    'unauthorized',
    ['active', 123],
    ['suspended', 60],
  ]);
});

test('what a relayed heartbeat says is kept, and its device is online', async () => {
  const tenant = newTenant(service);
  const { fingerprint, params } = await tenant.active();
  await relay({ fingerprint, body: '{"firmware_version":"7.8","manifest_version":3}' });
  expect((await tenant.owner.call(getDevice, { params })).body).toMatchObject({
    online: true,
    firmware_version: '7.8',
    manifest: { applied_version: 3 },
  });
});

test('a heartbeat with a fault has that fault as its result, as if it had come alone, and those beside it are answered', async () => {
  const tenant = newTenant(service);
  const [faulty, good] = await Promise.all([tenant.active(), tenant.active()]);
  const bodies = {
    '{"uptime_seconds":"long"}': 'body.uptime_seconds: must be a number, not "long".',
    'no json': 'body: is not valid JSON.',
    '"\\u0000"': 'body: contains a NUL character.',
    '{"firmware_version":"a\\u0000b"}': 'body.firmware_version: contains a NUL character.',
    '\0': 'body: is not valid JSON.',
    '{"__proto__":1}': 'body: has a member named __proto__, which cannot be kept.',
    '[]': 'body: must be an object.',
  };
  for (const [body, detail] of Object.entries(bodies)) {
    const sent = { fingerprint: faulty.fingerprint, body };
    const [first, second] = await relay(sent, { fingerprint: good.fingerprint, body: '' });
    expect(first).toEqual({ problem: { kind: 'validation-error', detail, headers: {} } });
    expect(second).toMatchObject({ heartbeat: { status: 'active' } });
  }
});

test('a version that nobody has desired is a conflict of its device alone', async () => {
  const tenant = newTenant(service);
  const [ahead, good] = await Promise.all([tenant.active(), tenant.active()]);
  const results = await relay(
    { fingerprint: ahead.fingerprint, body: '{"applied_version":9}' },
    { fingerprint: good.fingerprint, body: '{"applied_version":0}' },
  );
  expect(told(results)).toEqual(['conflict', ['active', 60]]);
});

test('a certificate is judged before the body, so that nobody learns from a fault that it is unknown', async () => {
  expect(told(await relay({ fingerprint: unknown, body: 'no json' }))).toEqual(['unauthorized']);
});

test('a relay as large as it may be is answered, and a larger one is refused by name', async () => {
  const { fingerprint } = await newTenant(service).active();
  const largest = { fingerprint, body: '\u0001'.repeat(relayedTextMax) };
  const most = Array.from({ length: relayedMost }, () => largest);
  expect(told(await relay(...most))).toEqual(most.map(() => 'validation-error'));
  const send = (heartbeats: Sent[]) => ingress(service).call(relayHeartbeats, { body: { heartbeats } });
  expect((await send([...most, largest])).problem?.detail).toBe('body.heartbeats: must have at most 64 values.');
  expect((await send([])).problem?.kind).toBe('validation-error');
  const longer = await send([{ fingerprint, body: 'x'.repeat(relayedTextMax + 1) }]);
  expect(longer.problem?.detail).toBe('body.heartbeats[0].body: must have at most 2048 characters.');
});
