import { generateKeyPairSync } from 'node:crypto';
import { bootstrapDevice, findDeviceCertificate, importDevices } from '@attribution/contracts';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  imported,
  ingress,
  newMachine,
  newSerial,
  nowOf,
  operator,
  pemOf,
  sendSigned,
  startDevice,
} from './support.ts';
import { csrDer, der, keyKinds, makeCsr, pem } from './support-csr.ts';

let service: TestService;
beforeAll(async () => {
  service = await startDevice();
});
afterAll(() => service.stop());

/** A request with one octet changed, cut off, or repeated, at a random place. */
function mutations(count: number): string[] {
  const chance = chanceFrom(7);
  const whole = csrDer(keyKinds['p-256']());
  return Array.from({ length: count }, (_, at) => {
    const bytes = Buffer.from(whole);
    const place = chance.int(0, bytes.length - 1);
    if (at % 3 === 0) bytes[place] = chance.int(0, 255);
    if (at % 3 === 1) return pem(bytes.subarray(0, place));
    if (at % 3 === 2) return pem(Buffer.concat([bytes, bytes.subarray(place)]));
    return pem(bytes);
  });
}

const deep = (levels: number): Buffer => (levels === 0 ? der(0x05) : der(0x30, deep(levels - 1)));
const strange = (): string[] => [
  '',
  ' ',
  '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n',
  '-----BEGIN CERTIFICATE REQUEST-----\n!!!!\n-----END CERTIFICATE REQUEST-----\n',
  `${makeCsr(keyKinds['p-256']())}${makeCsr(keyKinds['p-256']())}`,
  makeCsr(keyKinds['p-256']()).replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'),
  makeCsr(keyKinds.ed25519()),
  makeCsr(generateKeyPairSync('ec', { namedCurve: 'secp384r1' })),
  makeCsr(generateKeyPairSync('rsa', { modulusLength: 1024 })),
  makeCsr(keyKinds['p-256'](), 'x', keyKinds['p-256']().privateKey),
  pem(deep(1500)),
  pem(Buffer.from('3084ffffffff', 'hex')),
  pem(Buffer.from('3080', 'hex')),
  pem(Buffer.alloc(4000)),
  pem(Buffer.alloc(4000, 0xff)),
];

test('400: of more than two hundred hostile signing requests none is a fault of ours', async () => {
  const machine = await imported(service);
  const corpus = [...strange(), ...mutations(210)];
  const statuses = new Set<number>();
  for (let at = 0; at < corpus.length; at += 25) {
    const some = corpus.slice(at, at + 25).map((csr) => {
      const text = JSON.stringify({ serial: machine.serial, nonce: 'x', timestamp: nowOf(service), csr });
      return sendSigned(service, bootstrapDevice, text, machine.sign(text));
    });
    for (const { status } of await Promise.all(some)) statuses.add(status);
  }
  // A change that leaves the request as it was is refused for its nonce.
  expect([...statuses].filter((status) => status !== 400 && status !== 401)).toEqual([]);
  expect(statuses).toContain(400);
});

test('items of a factory list stand alone: what is wrong with one is said, and the others are taken', async () => {
  const good = newMachine();
  const rsaPss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey;
  const exponent = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }).publicKey;
  const of = (more: object) => ({ ...newMachine().listed, serial: newSerial(), ...more });
  const secret = keyKinds['p-256']().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const wrong: unknown[] = [
    null,
    7,
    [],
    {},
    of({ serial: 'lower-case' }),
    of({ serial: 'ABC' }),
    of({ public_key: 'no key' }),
    of({ public_key: secret }),
    of({ public_key: pemOf(rsaPss) }),
    of({ public_key: pemOf(exponent) }),
    of({ public_key: pemOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey) }),
    of({ public_key: `${pemOf(keyKinds.ed25519().publicKey)}${'\n'.repeat(5000)}` }),
    of({ model: 'x'.repeat(101) }),
    of({ claim_code: 'ABC' }),
    of({ claim_code: good.labelCode }),
    of({ public_key: good.listed.public_key }),
    { ...good.listed, public_key: pemOf(keyKinds.ed25519().publicKey) },
  ];
  const send = (devices: unknown[]) => operator(service).call(importDevices, { body: { devices } });
  const { body } = await send([good.listed, ...wrong, good.listed, newMachine(keyKinds.rsa()).listed]);
  expect([body.created, body.unchanged]).toEqual([2, 1]);
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
