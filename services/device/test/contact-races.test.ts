import { bootstrapDevice, renewCertificate, sendHeartbeat } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { challenge, csr, imported, type Machine, newTenant, nowOf, sendSigned, startDevice } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startDevice();
});
afterAll(() => service.stop());

async function spend(machine: Machine, nonce: string) {
  const text = JSON.stringify({ serial: machine.serial, nonce, timestamp: nowOf(service), csr });
  return (await sendSigned(service, bootstrapDevice, text, machine.sign(text))).status;
}

async function noncesOf(machine: Machine, count: number): Promise<string[]> {
  const nonces: string[] = [];
  for (let n = 0; n < count; n++) nonces.push((await challenge(service, machine)).nonce);
  return nonces;
}

/** Sends what needs the lock of a device while somebody else changes the device under it. */
async function whileChanging<T>(id: string, change: string, send: () => Promise<T>): Promise<T> {
  const outside = await service.db.connect();
  try {
    await outside.query('BEGIN');
    await outside.query('SELECT FROM devices WHERE id = $1 FOR UPDATE', [id]);
    const sent = send();
    await eventually(async () => {
      const { rows } = await service.db.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(rows).not.toHaveLength(0);
    });
    await outside.query(change, [id]);
    await outside.query('COMMIT');
    return await sent;
  } finally {
    outside.release();
  }
}

const certificatesOf = async (id: string) =>
  (
    await service.db.query(
      'SELECT number, revocation_reason FROM device_certificates WHERE device_id = $1 ORDER BY number',
      [id],
    )
  ).rows;

test('of five nonces used at once each gets a certificate, the last is in force, and all of it is told in order', async () => {
  const tenant = newTenant(service);
  const { machine, id } = await tenant.claimed();
  const nonces = await noncesOf(machine, 5);
  expect(await Promise.all(nonces.map((nonce) => spend(machine, nonce)))).toEqual([200, 200, 200, 200, 200]);
  expect(await certificatesOf(id)).toEqual(
    [1, 2, 3, 4, 5].map((number) => ({ number, revocation_reason: number < 5 ? 'superseded' : null })),
  );
  const next = ['certificate.revoked', 'certificate.issued'];
  expect((await tenant.events()).map(({ type }) => type)).toEqual([
    ...['device.claimed', 'device.activated', 'certificate.issued'],
    ...[next, next, next, next].flat(),
  ]);
});

test('devices that come at once each get their answer, whatever the others send', async () => {
  const { machine, id } = await newTenant(service).claimed();
  const [unclaimed, other] = [await imported(service), (await newTenant(service).claimed()).machine];
  const all = [machine, other, unclaimed];
  const [nonce = '', others = '', unclaimeds = ''] = (await Promise.all(all.map((one) => noncesOf(one, 1)))).flat();
  const answers = await Promise.all([
    spend(other, nonce),
    spend(machine, nonce),
    spend(unclaimed, nonce),
    spend(other, others),
    spend(unclaimed, unclaimeds),
  ]);
  expect(answers).toEqual([401, 200, 401, 200, 202]);
  expect(await certificatesOf(id)).toEqual([{ number: 1, revocation_reason: null }]);
});

test('401: a device that is suspended while its bootstrap waits gets nothing, and its nonce stays good', async () => {
  const { machine, id } = await newTenant(service).claimed();
  const [nonce = ''] = await noncesOf(machine, 1);
  const suspend = `UPDATE devices SET status = 'suspended', resumes_as = 'claimed', suspended_at = now() WHERE id = $1`;
  expect(await whileChanging(id, suspend, () => spend(machine, nonce))).toBe(401);
  expect(await certificatesOf(id)).toEqual([]);
  await service.db.query(
    `UPDATE devices SET status = 'claimed', resumes_as = NULL, suspended_at = NULL WHERE id = $1`,
    [id],
  );
  expect(await spend(machine, nonce)).toBe(200);
});

test('a certificate that is first used while a bootstrap waits is not revoked for the new one', async () => {
  const { machine, id } = await newTenant(service).active();
  const [nonce = ''] = await noncesOf(machine, 1);
  const use = 'UPDATE device_certificates SET used_at = now() WHERE device_id = $1';
  expect(await whileChanging(id, use, () => spend(machine, nonce))).toBe(200);
  expect((await certificatesOf(id)).map((row) => row.revocation_reason)).toEqual([null, null]);
});

test.each([
  [
    '401: of a certificate that is revoked',
    401,
    `UPDATE device_certificates SET revoked_at = now() WHERE device_id = $1`,
  ],
  ['409: when another was issued', 409, 'UPDATE devices SET certificates_issued = 2 WHERE id = $1'],
])('a renewal that waits meanwhile is refused with %s', async (_what, status, change) => {
  const { client, id } = await newTenant(service).active();
  await client.call(sendHeartbeat, { body: {} }); // Its first use would wait for the lock too.
  const renew = () => client.call(renewCertificate, { body: { csr } });
  expect((await whileChanging(id, change, renew)).status).toBe(status);
  expect(await certificatesOf(id)).toHaveLength(1);
});
