import { createHmac, createPrivateKey, createPublicKey, sign as signBytes } from 'node:crypto';
import { newId, newUuid } from '@attribution/ids';
import { testKeys } from '@attribution/testing';

const privateKey = createPrivateKey({ key: testKeys.private.keys[0] ?? {}, format: 'jwk' });
export const publicKey = createPublicKey({ key: testKeys.public.keys[0] ?? {}, format: 'jwk' });

export const now = 1_800_000_000;

/** The claims of a valid access token in these tests; `undefined` in a change removes a field. */
const goodHeader = { alg: 'ES256', typ: 'at+jwt', kid: 'test' };
export const goodClaims = {
  iss: 'attribution-platform',
  aud: 'attribution-platform',
  iat: now - 10,
  exp: now + 890,
  sub: newId('user'),
  account: newId('account'),
  role: 'owner',
  account_type: 'network',
  sid: newUuid(),
};

export type Changes = Readonly<Record<string, unknown>>;
export type Sign = (text: string) => Buffer;

const signEs256: Sign = (text) =>
  signBytes('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
export const signHs256 =
  (secret: string | Buffer): Sign =>
  (text) =>
    createHmac('sha256', secret).update(text).digest();

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token built by hand, so that it can be invalid in any way. */
export function forge(header: Changes = {}, claims: Changes = {}, sign: Sign = signEs256): string {
  const text = `${part({ ...goodHeader, ...header })}.${part({ ...goodClaims, ...claims })}`;
  return `${text}.${sign(text).toString('base64url')}`;
}

/** Like `forge`, with a payload that is not an object of claims. */
export function forgePayload(payload: unknown): string {
  const text = `${part(goodHeader)}.${part(payload)}`;
  return `${text}.${signEs256(text).toString('base64url')}`;
}
