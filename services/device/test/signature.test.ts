import { constants, generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createSignatureJudge } from '../src/contact/signature.ts';
import { pemOf } from './support.ts';
import { keyKinds } from './support-csr.ts';

const judge = createSignatureJudge();
const bytes = Buffer.from('{"serial":"PLAYER-1"}');
const { rsa, 'p-256': ec, ed25519 } = keyKinds;
const [rsaPair, ecPair, edPair] = [rsa(), ec(), ed25519()];
const base64 = (signature: Buffer) => signature.toString('base64');

const good = {
  rsa: [rsaPair, base64(sign('sha256', bytes, rsaPair.privateKey))],
  'p-256': [ecPair, base64(sign('sha256', bytes, ecPair.privateKey))],
  ed25519: [edPair, base64(sign(null, bytes, edPair.privateKey))],
} as const;
const accepts = (pair: { publicKey: typeof rsaPair.publicKey }, header: string | undefined) =>
  judge.accepts(pemOf(pair.publicKey), 'PLAYER-1', bytes, header);

test.each(Object.entries(good))(
  '%s: the signature of the recorded key’s algorithm is accepted, and of these bytes alone',
  (_kind, [pair, header]) => {
    expect(accepts(pair, header)).toBe(true);
    expect(judge.accepts(pemOf(pair.publicKey), 'PLAYER-1', Buffer.concat([bytes, Buffer.from('\n')]), header)).toBe(
      false,
    );
    expect(judge.accepts(undefined, 'PLAYER-1', bytes, header)).toBe(false);
    for (const spelled of [
      undefined,
      '',
      ` ${header}`,
      `${header}\n`,
      header.replaceAll('=', ''),
      Buffer.from(header, 'base64').toString('base64url'),
      `${header}${header}`,
      header.slice(4),
      'A'.repeat(2000),
    ])
      if (spelled !== header) expect([spelled, accepts(pair, spelled)]).toEqual([spelled, false]);
  },
);

const pss = { key: rsaPair.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING };
test.each<[string, typeof rsaPair, Buffer]>([
  ['PSS', rsaPair, sign('sha256', bytes, pss)],
  ['SHA-1', rsaPair, sign('sha1', bytes, rsaPair.privateKey)],
  ['SHA-512', rsaPair, sign('sha512', bytes, rsaPair.privateKey)],
  ['a number above the modulus', rsaPair, Buffer.alloc(256, 0xff)],
  ['SHA-1 of ECDSA', ecPair, sign('sha1', bytes, ecPair.privateKey)],
  ['r‖s', ecPair, sign('sha256', bytes, { key: ecPair.privateKey, dsaEncoding: 'ieee-p1363' })],
  ['zeros in DER', ecPair, Buffer.from('3006020100020100', 'hex')],
  ['octets behind the DER', ecPair, Buffer.concat([sign('sha256', bytes, ecPair.privateKey), Buffer.from([0])])],
  ['another key', ecPair, sign('sha256', bytes, generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey)],
  ['a short Ed25519 signature', edPair, sign(null, bytes, edPair.privateKey).subarray(1)],
  ['an Ed25519 signature of ones', edPair, Buffer.alloc(64, 0xff)],
])('refused: %s', (_what, pair, signature) => {
  expect(accepts(pair, base64(signature))).toBe(false);
});
