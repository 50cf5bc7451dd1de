import { X509Certificate } from 'node:crypto';
import { bootstrapDevice, findDeviceCertificate, importDevices, renewCertificate } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostileCsrs, mutatedCsrs, oddCsrs } from './hostile-csrs.ts';
import { hostileKeys, mutationsOf, oddKeys, spoiltPems } from './hostile-keys.ts';
import {
  bootstrap,
  imported,
  ingress,
  newMachine,
  newSerial,
  newTenant,
  nowOf,
  operator,
  pemOf,
  sendSigned,
  startDevice,
} from './support.ts';
import { keyKinds, pem } from './support-csr.ts';

let service: TestService;
beforeAll(async () => {
  service = await startDevice();
});
afterAll(() => service.stop());

/** Sends a signing request as a first contact whose nonce is none, and resolves with the status. */
async function contactWith(csr: string): Promise<number> {
  const machine = newMachine();
  const text = JSON.stringify({ serial: machine.serial, nonce: 'x', timestamp: nowOf(service), csr });
  return (await sendSigned(service, bootstrapDevice, text, machine.sign(text))).status;
}

/** Twenty-five at a time. */
async function each<T, R>(all: readonly T[], ask: (one: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < all.length; at += 25) answers.push(...(await Promise.all(all.slice(at, at + 25).map(ask))));
  return answers;
}

test('400: none of the hostile signing requests is accepted, and the service goes on', async () => {
  const [corpus, mutated] = [Object.entries(hostileCsrs), mutatedCsrs(210)];
  expect(corpus.length + mutated.length).toBeGreaterThanOrEqual(300);
  const { client } = await newTenant(service).active();
  const renewWith = async (csr: string) => (await client.call(renewCertificate, { body: { csr } })).status;
  const answers = await each(corpus, async ([what, csr]) => [what, await contactWith(csr), await renewWith(csr)]);
  expect(answers).toEqual(corpus.map(([what]) => [what, 400, 400]));
  // A change in what no signature covers leaves a request, which is refused for its nonce.
  const statuses = new Set(await each(mutated, contactWith));
  expect([...statuses].filter((status) => status !== 400 && status !== 401)).toEqual([]);
  expect((await bootstrap(service, await imported(service))).status).toBe(202);
});

/** How the key of a certificate begins whose curve is P-256 by its name, its point whole (RFC 5480). */
const p256Head = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex');

test('200: of odd signing requests the public key alone is taken, with the name of its curve', async () => {
  const { client, id } = await newTenant(service).active();
  for (const [what, csr] of Object.entries(oddCsrs)) {
    const { status, body } = await client.call(renewCertificate, { body: { csr } });
    expect([what, status]).toEqual([what, 200]);
    const { subject, subjectAltName, ca, publicKey } = new X509Certificate(body.certificate);
    expect([what, subject, subjectAltName, ca]).toEqual([what, `CN=${id}`, `URI:urn:attribution:device:${id}`, false]);
    const key = publicKey.export({ type: 'spki', format: 'der' });
    expect([what, key.subarray(0, p256Head.length)]).toEqual([what, p256Head]);
  }
});

const listed = (more: object) => ({ ...newMachine().listed, serial: newSerial(), ...more });
const send = (devices: unknown[]) => operator(service).call(importDevices, { body: { devices } });

test('of a factory list every hostile key is refused by itself, and the others are taken', async () => {
  const good = pemOf(keyKinds['p-256']().publicKey);
  const der = keyKinds.rsa().publicKey.export({ type: 'spki', format: 'der' });
  const secret = keyKinds['p-256']().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const corpus = {
    ...spoiltPems(good, 'PUBLIC KEY'),
    ...Object.fromEntries(Object.entries(hostileKeys).map(([what, key]) => [what, pem(key, 'PUBLIC KEY')])),
    'a private key': secret,
    'a private key by the label of a public one': secret.replaceAll('PRIVATE', 'PUBLIC'),
    'bytes behind the key': pem(Buffer.concat([der, Buffer.from([0])]), 'PUBLIC KEY'),
    'more than 4 KiB': `${good}${'\n'.repeat(5000)}`,
  };
  const mutated = mutationsOf(der, 120).map((bytes) => pem(bytes, 'PUBLIC KEY'));
  expect(Object.keys(corpus).length + mutated.length).toBeGreaterThanOrEqual(180);
  const items = Object.values(corpus).map((public_key) => listed({ public_key }));
  const { status, body } = await send([listed({}), ...items, listed({})]);
  expect([status, body.created]).toEqual([200, 2]);
  expect(body.rejected).toEqual(
    items.map((_, at) => ({ index: at + 1, detail: expect.stringMatching(/^public_key: /) })),
  );
  // A bit of a modulus or exponent that has changed may leave a key.
  const { created, rejected } = (await send(mutated.map((public_key) => listed({ public_key })))).body;
  expect(created + rejected.length).toBe(mutated.length);
  expect(rejected.length).toBeGreaterThan(80);
});

test('a key is the same key however it is written', async () => {
  for (const [what, forms] of Object.entries(oddKeys())) {
    const machine = newMachine();
    const { body } = await send(forms.map((public_key) => ({ ...machine.listed, public_key })));
    expect([what, body]).toEqual([what, { created: 1, unchanged: forms.length - 1, rejected: [] }]);
  }
});

test('items of a factory list stand alone: what is wrong with one is said, and the others are taken', async () => {
  const good = newMachine();
  let deep: object = {};
  for (let level = 0; level < 40; level++) deep = { deep };
  const wrong: unknown[] = [
    null,
    7,
    [],
    {},
    listed({ serial: 'lower-case' }),
    listed({ serial: 'ABC' }),
    listed({ serial: 'A'.repeat(65) }),
    listed({ serial: 'ABCD\n' }),
    listed({ public_key: 7 }),
    listed({ model: 'x'.repeat(101) }),
    listed({ model: 'a\0b' }),
    listed({ hardware_revision: '\ud800' }),
    listed({ hardware_revision: 7 }),
    listed({ more: deep }),
    listed({ claim_code: 'ABC' }),
    listed({ claim_code: 'ABCDEFGHJKMNPQRU' }),
    listed({ claim_code: good.labelCode }),
    listed({ public_key: good.listed.public_key }),
    { ...good.listed, public_key: pemOf(keyKinds.ed25519().publicKey) },
  ];
  const { status, body } = await send([good.listed, ...wrong, good.listed, newMachine(keyKinds.rsa()).listed]);
  expect([status, body.created, body.unchanged]).toEqual([200, 2, 1]);
  expect(body.rejected.map(({ index }) => index)).toEqual(wrong.map((_, at) => at + 1));
  expect((await send([good.listed])).body).toEqual({ created: 0, unchanged: 1, rejected: [] });
  expect((await send([])).status).toBe(400);
  expect((await send(Array.from({ length: 1001 }, () => good.listed))).status).toBe(400);
  const twenty = Array.from({ length: 20 }, () => send([newMachine().listed, good.listed]));
  for (const answer of await Promise.all(twenty)) expect(answer.body).toMatchObject({ created: 1, unchanged: 1 });
});

test('404: a fingerprint of any shape that nobody was given', async () => {
  for (const fingerprint of ['x', 'A'.repeat(64), 'a'.repeat(63), 'a'.repeat(64)])
    expect((await ingress(service).call(findDeviceCertificate, { params: { fingerprint } })).status).toBe(404);
});
