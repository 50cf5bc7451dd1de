import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  accountClosed,
  bootstrapDevice,
  challengeDevice,
  claimDevice,
  retireDevice,
  suspendDevice,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  bootstrap,
  challenge,
  csr,
  imported,
  type Machine,
  newMachine,
  newTenant,
  nowOf,
  sendSigned,
  startDevice,
} from './support.ts';
import { keyKinds, makeCsr } from './support-csr.ts';

let service: TestService;
beforeAll(async () => {
  service = await startDevice();
});
afterAll(() => service.stop());

const contactBody = (serial: string) => JSON.stringify({ serial, timestamp: nowOf(service) });

test.each(Object.keys(keyKinds) as (keyof typeof keyKinds)[])(
  '200: a device with a key of kind %s gets a nonce, a code to be claimed by, and its certificate',
  async (kind) => {
    const machine = await imported(service, newMachine(keyKinds[kind]()));
    const given = await challenge(service, machine);
    expect(given.nonce).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const unclaimed = await bootstrap(service, machine);
    expect(unclaimed.status).toBe(202);
    expect(unclaimed.headers.get('retry-after')).toBe('30');
    const { claim_code, retry_after } = unclaimed.body as { claim_code: string; retry_after: number };
    expect(claim_code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(retry_after).toBe(30);
    expect((await bootstrap(service, machine)).body).toMatchObject({ claim_code });
    const tenant = newTenant(service);
    const claimed = await tenant.owner.call(claimDevice, {
      body: { claim_code: claim_code.toLowerCase().replace('-', ' ') },
    });
    expect(claimed.status).toBe(201);
    const { status, body } = await bootstrap(service, machine);
    expect(status).toBe(200);
    expect(body).toMatchObject({ device_id: claimed.body.id });
    expect((await tenant.events()).map(({ type }) => type)).toEqual([
      'device.claimed',
      'device.activated',
      'certificate.issued',
    ]);
  },
);

test('the certificate is the one of the contract, and openssl accepts it strictly', async () => {
  const { certificate, chain, id } = await (async () => {
    const tenant = newTenant(service);
    const claimed = await tenant.claimed();
    const { body } = await bootstrap(service, claimed.machine, { csr: makeCsr(keyKinds.rsa(), 'somebody else') });
    return { ...(body as { certificate: string; chain: string[]; not_before: string }), id: claimed.id };
  })();
  const parsed = new X509Certificate(certificate);
  expect(parsed.subject).toBe(`CN=${id}`);
  expect(parsed.subjectAltName).toBe(`URI:urn:attribution:device:${id}`);
  expect(parsed.ca).toBe(false);
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(parsed.validToDate.getTime() - parsed.validFromDate.getTime()).toBe((30 * 24 + 1) * 3_600_000);
  const [issuer = '', root = ''] = chain;
  expect(parsed.verify(new X509Certificate(issuer).publicKey)).toBe(true);
  expect(new X509Certificate(issuer).verify(new X509Certificate(root).publicKey)).toBe(true);
  if (spawnSync('openssl', ['version']).status !== 0) return;
  const folder = mkdtempSync(join(tmpdir(), 'device-ca-'));
  const files = Object.entries({ certificate, issuer, root }).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  const [leaf = '', middle = '', top = ''] = files;
  const verified = execFileSync('openssl', [
    'verify',
    '-x509_strict',
    '-purpose',
    'sslclient',
    '-CAfile',
    top,
    '-untrusted',
    middle,
    leaf,
  ]);
  expect(verified.toString()).toContain('OK');
  const text = execFileSync('openssl', ['x509', '-in', leaf, '-noout', '-text']).toString();
  expect(text).toContain('sha256WithRSAEncryption');
  expect(text).toMatch(/Key Usage: critical\s+Digital Signature/);
  expect(text).toMatch(/Basic Constraints: critical\s+CA:FALSE/);
});

test('401: whatever is wrong with a first contact, the answer is the same byte for byte, and the nonce stays good', async () => {
  const tenant = newTenant(service);
  const machine = await imported(service);
  const other = await imported(service);
  const suspended = await tenant.claimed();
  await tenant.owner.call(suspendDevice, { params: suspended.params });
  const retired = await tenant.claimed();
  const closing = newTenant(service);
  const closed = await closing.claimed();
  const { nonce } = await challenge(service, machine);
  const othersNonce = (await challenge(service, other)).nonce;
  const beforeRetiring = (await challenge(service, retired.machine)).nonce;
  await tenant.owner.call(retireDevice, { params: retired.params });
  await service.deliver(accountClosed, { account_id: closing.account }, closing.account);

  const good = { serial: machine.serial, nonce, timestamp: nowOf(service), csr };
  const send = (body: object, signature?: (text: string) => string | undefined) => {
    const text = JSON.stringify(body);
    return sendSigned(service, bootstrapDevice, text, signature ? signature(text) : machine.sign(text));
  };
  const answers = await Promise.all([
    send(good, () => undefined),
    send(good, () => ''),
    send(good, () => 'not base64!'),
    send(good, (text) => machine.sign(text).replace(/^./, '_')),
    send(good, (text) => `${machine.sign(text)}, ${machine.sign(text)}`),
    send(good, () => machine.sign('something else')),
    send(good, (text) => other.sign(text)),
    send({ ...good, serial: 'NOBODY-HAS-IT' }),
    send({ ...good, nonce: '' }),
    send({ ...good, nonce: 'x'.repeat(43) }),
    send({ ...good, nonce: othersNonce }),
    send({ ...good, timestamp: nowOf(service, 301_000) }),
    send({ ...good, timestamp: nowOf(service, -301_000) }),
    send({ ...good, serial: suspended.machine.serial }, suspended.machine.sign),
    send({ ...good, serial: retired.machine.serial, nonce: beforeRetiring }, retired.machine.sign),
    send({ ...good, serial: closed.machine.serial }, closed.machine.sign),
  ]);
  const challenged = await Promise.all([
    sendSigned(service, challengeDevice, contactBody('NOBODY'), machine.sign(contactBody('NOBODY'))),
    sendSigned(service, challengeDevice, contactBody(suspended.machine.serial), undefined),
  ]);
  for (const { status, text, headers } of [...answers, ...challenged]) {
    expect([status, text]).toEqual([401, answers[0]?.text]);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  }
  expect((await send(good)).status).toBe(202);
  expect((await send(good)).status).toBe(401);
});

test('401: a nonce is over after five minutes, and a sixth of a device ends the oldest', async () => {
  const machine = await imported(service);
  const first = await challenge(service, machine);
  for (let n = 0; n < 5; n++) {
    service.clock.advance({ seconds: 1 });
    await challenge(service, machine);
  }
  const send = (nonce: string) => {
    const text = JSON.stringify({ serial: machine.serial, nonce, timestamp: nowOf(service), csr });
    return sendSigned(service, bootstrapDevice, text, machine.sign(text));
  };
  expect((await send(first.nonce)).status).toBe(401);
  const { nonce } = await challenge(service, machine);
  service.clock.advance({ minutes: 5 });
  expect((await send(nonce)).status).toBe(401);
});

test('of twenty uses of a nonce at once one wins', async () => {
  const { machine } = await newTenant(service).claimed();
  const { nonce } = await challenge(service, machine);
  const text = JSON.stringify({ serial: machine.serial, nonce, timestamp: nowOf(service), csr });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => sendSigned(service, bootstrapDevice, text, machine.sign(text))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
});

/** Sends a first contact with this nonce, and resolves with the status and the bytes that were sent. */
async function spend(machine: Machine, nonce: string, timestamp = nowOf(service)) {
  const text = JSON.stringify({ serial: machine.serial, nonce, timestamp, csr });
  const { status, body } = await sendSigned(service, bootstrapDevice, text, machine.sign(text));
  const again = async () => (await sendSigned(service, bootstrapDevice, text, machine.sign(text))).status;
  return { status, body, again };
}

test.each(['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '2038-01-19T03:14:08Z', '9999-12-31T23:59:59.999Z'])(
  'a device whose clock says %s gets a nonce and the time, and comes in by that time alone',
  async (wrong) => {
    const machine = await imported(service);
    const text = JSON.stringify({ serial: machine.serial, timestamp: wrong });
    const challenged = await sendSigned(service, challengeDevice, text, machine.sign(text));
    const { nonce, server_time } = challenged.body as { nonce: string; server_time: string };
    expect(challenged.status).toBe(200);
    expect((await spend(machine, nonce, wrong)).status).toBe(401);
    expect((await spend(machine, nonce, server_time)).status).toBe(202);
  },
);

test('400: timestamps that are none', async () => {
  const machine = await imported(service);
  for (const timestamp of ['0000-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00+01:00', 'x', 7, null]) {
    const text = JSON.stringify({ serial: machine.serial, timestamp });
    const { status } = await sendSigned(service, challengeDevice, text, machine.sign(text));
    expect([timestamp, status]).toEqual([timestamp, 400]);
  }
});

test('a timestamp may be 300 s off', async () => {
  const machine = await imported(service);
  for (const offsetMs of [299_999, -290_000]) {
    const { nonce } = await challenge(service, machine);
    expect((await spend(machine, nonce, nowOf(service, offsetMs))).status).toBe(202);
  }
});

test('first contacts that come again, or in another order, are each served once', async () => {
  const { machine } = await newTenant(service).claimed();
  const [first, second] = [await challenge(service, machine), await challenge(service, machine)];
  const [late, early] = [await spend(machine, second.nonce), await spend(machine, first.nonce)];
  expect([late.status, early.status]).toEqual([200, 200]);
  expect([await late.again(), await early.again(), await late.again()]).toEqual([401, 401, 401]);
  const { rows } = await service.db.query(
    `SELECT c.revocation_reason FROM device_certificates c JOIN devices d ON d.id = c.device_id
     WHERE d.serial = $1 ORDER BY c.number`,
    [machine.serial],
  );
  expect(rows.map(({ revocation_reason }) => revocation_reason)).toEqual(['superseded', null]);
});

test('of twenty challenges at once five nonces are left, and each of them works', async () => {
  const machine = await imported(service);
  const nonces = await Promise.all(Array.from({ length: 20 }, async () => (await challenge(service, machine)).nonce));
  const statuses = await Promise.all(nonces.map(async (nonce) => (await spend(machine, nonce)).status));
  expect(statuses.toSorted()).toEqual([
    ...Array.from({ length: 5 }, () => 202),
    ...Array.from({ length: 15 }, () => 401),
  ]);
});

test('400: what the bytes alone show comes before the signature', async () => {
  const machine = await imported(service);
  const good = { serial: machine.serial, nonce: 'x', timestamp: nowOf(service), csr };
  const send = (text: string, headers = {}) => sendSigned(service, bootstrapDevice, text, undefined, headers);
  const { csr: _, ...without } = good;
  for (const text of [
    '',
    'no json',
    '[]',
    JSON.stringify(without),
    JSON.stringify({ ...good, serial: 7 }),
    JSON.stringify({ ...good, serial: 'abc' }),
    JSON.stringify({ ...good, timestamp: 'yesterday' }),
    JSON.stringify({ ...good, csr: 'x'.repeat(8193) }),
    JSON.stringify({ ...good, csr: 'no csr' }),
    JSON.stringify({ ...good, csr: makeCsr(keyKinds.ed25519()) }),
    JSON.stringify({ ...good, csr: makeCsr(keyKinds['p-256'](), 'x', keyKinds['p-256']().privateKey) }),
    JSON.stringify({ ...good, more: 'x'.repeat(16_384) }),
  ])
    expect([text.slice(0, 60), (await send(text)).status]).toEqual([text.slice(0, 60), 400]);
  const packed = await send(JSON.stringify(good), { 'content-encoding': 'gzip' });
  expect(packed.status).toBe(400);
  const kept = await send(JSON.stringify(good), { 'content-encoding': 'identity' });
  expect(kept.status).toBe(401);
});
