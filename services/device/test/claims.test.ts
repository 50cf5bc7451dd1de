import { claimDevice, getDevice, retireDevice } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bootstrap, imported, newMachine, newTenant, startDevice } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startDevice();
});
afterAll(() => service.stop());

const screenCode = async (machine: Parameters<typeof bootstrap>[1]) =>
  ((await bootstrap(service, machine)).body as { claim_code: string }).claim_code;

test('201: a label code works in any spelling, with its serial and a name', async () => {
  const tenant = newTenant(service);
  const machine = await imported(service);
  const spelled = machine.labelCode
    .toLowerCase()
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
    .replace(/(.{4})/g, '$1-');
  const { status, body } = await tenant.owner.call(claimDevice, {
    body: { claim_code: spelled, serial: machine.serial, name: 'Window left' },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    serial: machine.serial,
    name: 'Window left',
    status: 'claimed',
    certificate: null,
    online: false,
  });
  expect((await tenant.events()).map(({ type, key }) => [type, key])).toEqual([['device.claimed', body.id]]);
});

test('an Idempotency-Key claims once', async () => {
  const tenant = newTenant(service);
  const machine = await imported(service);
  const claim = () =>
    tenant.owner.call(claimDevice, { body: { claim_code: machine.labelCode }, headers: { 'idempotency-key': 'once' } });
  const [one, other] = [await claim(), await claim()];
  expect([one.status, other.status]).toEqual([201, 201]);
  expect(other.body).toEqual(one.body);
});

test('404 and 409: every code that leads nowhere gets the one same answer, and one of the own device another', async () => {
  const [tenant, stranger] = [newTenant(service), newTenant(service)];
  const own = await tenant.claimed();
  const others = await stranger.claimed();
  const unclaimed = await imported(service);
  const late = await imported(service);
  const code = await screenCode(late);
  await service.db.query(`UPDATE claim_codes SET expires_at = now() - interval '1 s' WHERE kind = 'screen'`);
  const wrong = [
    { claim_code: '' },
    { claim_code: 'x' },
    { claim_code: `${unclaimed.labelCode}${'0'.repeat(1_000)}` },
    { claim_code: 'ABCDEFGHJKMNPQRS' },
    { claim_code: code },
    { claim_code: others.machine.labelCode },
    { claim_code: unclaimed.labelCode, serial: 'ANOTHER' },
    { claim_code: unclaimed.labelCode, serial: 'A'.repeat(1_000) },
  ];
  const answers: Awaited<ReturnType<typeof tenant.owner.call<typeof claimDevice>>>[] = [];
  for (const body of wrong) answers.push(await tenant.owner.call(claimDevice, { body }));
  for (const { status, problem } of answers)
    expect([status, problem?.detail]).toEqual([404, answers[0]?.problem?.detail]);
  const again = await tenant.owner.call(claimDevice, { body: { claim_code: own.machine.labelCode } });
  expect(again.status).toBe(409);
  expect((await tenant.owner.call(claimDevice, { body: { claim_code: unclaimed.labelCode } })).status).toBe(201);
});

test('429: after ten wrong codes within a quarter of an hour right ones are refused too, until it is over', async () => {
  const tenant = newTenant(service);
  const machine = await imported(service);
  const guess = () => tenant.owner.call(claimDevice, { body: { claim_code: '00000000' } });
  const answers = await Promise.all(Array.from({ length: 14 }, guess));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 404), ...Array.from({ length: 4 }, () => 429)]);
  const right = () => tenant.owner.call(claimDevice, { body: { claim_code: machine.labelCode } });
  const refused = await right();
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  await service.db.query(`UPDATE claim_misses SET opened_at = opened_at - interval '15 minutes'`);
  expect((await right()).status).toBe(201);
});

test('of twenty parallel claims of one device, by two accounts, one succeeds', async () => {
  const [tenant, stranger] = [newTenant(service), newTenant(service)];
  const machine = await imported(service);
  const claim = (_: unknown, at: number) =>
    (at % 2 === 0 ? stranger : tenant).owner.call(claimDevice, { body: { claim_code: machine.labelCode } });
  const statuses = (await Promise.all(Array.from({ length: 20 }, claim))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => ![201, 404, 409].includes(status))).toEqual([]);
});

test('claiming ends all codes, and a retired device leaves its serial, key and label to a new one', async () => {
  const [tenant, next] = [newTenant(service), newTenant(service)];
  const machine = newMachine();
  await imported(service, machine);
  const code = await screenCode(machine);
  const { body: first } = await tenant.owner.call(claimDevice, { body: { claim_code: machine.labelCode } });
  expect((await next.owner.call(claimDevice, { body: { claim_code: code } })).status).toBe(404);
  await tenant.owner.call(retireDevice, { params: { id: first.id } });
  await imported(service, machine);
  const { body: second } = await next.owner.call(claimDevice, { body: { claim_code: machine.labelCode } });
  expect(second.id).not.toBe(first.id);
  expect((await tenant.owner.call(getDevice, { params: { id: first.id } })).body.status).toBe('retired');
  expect((await bootstrap(service, machine)).body).toMatchObject({ device_id: second.id });
});
