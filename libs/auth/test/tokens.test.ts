import { Problem } from '@attribution/contracts';
import { testKeys } from '@attribution/testing';
import { describe, expect, test } from '@jest/globals';
import { createSigner, createVerifier, generateKeySets, KeySet, type TokenType } from '../src/index.ts';
import { type Changes, forge, forgePayload, goodClaims, now, publicKey, signHs256 } from './support.ts';

const verifierAt = (seconds: number) => createVerifier(testKeys.public, () => seconds * 1000);
const verifier = verifierAt(now);
const admit = (token: string) => verifier.authenticate(`Bearer ${token}`);
const refusal = new Problem('unauthorized', 'The bearer token is missing, invalid or expired.');

test('a valid token identifies its caller', () => {
  const { sub, account, sid } = goodClaims;
  expect(admit(forge())).toMatchObject({ kind: 'person', id: sub, accountId: account, role: 'owner', sessionId: sid });
});

test('the scheme may have any letter case, and several spaces after it', () => {
  expect(verifier.authenticate(`bearer   ${forge()}`).id).toBe(goodClaims.sub);
});

test.each([
  ['no header', undefined],
  ['an empty header', ''],
  ['the scheme alone', 'Bearer'],
  ['an empty token', 'Bearer '],
  ['another scheme', `Basic ${forge()}`],
  ['no scheme', forge()],
  ['two tokens', `Bearer ${forge()} ${forge()}`],
  ['something after a comma', `Bearer ${forge()}, Basic eDp5`],
  ['a space before the scheme', ` Bearer ${forge()}`],
  ['a line break at the end', `Bearer ${forge()}\n`],
  ['no space between', `Bearer${forge()}`],
])('401: %s is refused', (_what, header) => {
  expect(() => verifier.authenticate(header)).toThrow(refusal);
});

/** The claims that a signer is given. It adds the issuer, the audience and the times. */
const { iss: _iss, aud: _aud, iat: _iat, exp: _exp, ...identity } = goodClaims;

const pem = publicKey.export({ type: 'spki', format: 'pem' });
const der = publicKey.export({ type: 'spki', format: 'der' });
const other = generateKeySets('test');
const signedByOther = createSigner(other.private).sign('at+jwt', identity, 890, new Date(now * 1000));
const [head = '', body = '', signature = ''] = forge().split('.');
const admin = Buffer.from(JSON.stringify({ ...goodClaims, sub: 'usr_other' })).toString('base64url');

test.each([
  ['no token at all', 'nothing'],
  ['two parts', `${head}.${body}`],
  ['an empty signature', `${head}.${body}.`],
  ['a signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
  ['half a signature', `${head}.${body}.${signature.slice(0, 43)}`],
  ['the signature of other claims', `${head}.${admin}.${signature}`],
  ['another key of the platform', signedByOther],
  ['alg none without a signature', forge({ alg: 'none' }, {}, () => Buffer.alloc(0))],
  ['alg none in other letters', forge({ alg: 'nOnE' }, {}, () => Buffer.alloc(0))],
  ['HMAC with the public key as its secret, PEM', forge({ alg: 'HS256' }, {}, signHs256(pem))],
  ['HMAC with the public key as its secret, DER', forge({ alg: 'HS256' }, {}, signHs256(der))],
  ['HMAC with an empty secret', forge({ alg: 'HS256' }, {}, signHs256(''))],
  ['HMAC under our algorithm’s name', forge({}, {}, signHs256(pem))],
  ['another algorithm over our signature', forge({ alg: 'ES512' })],
  ['a payload that is a string', forgePayload('usr_1')],
  ['a payload that is a list', forgePayload([goodClaims])],
  ['a payload that is null', forgePayload(null)],
])('401: %s is refused', (_what, token) => {
  expect(() => admit(token)).toThrow(refusal);
});

test.each<[string, Changes]>([
  ['an unknown kid', { kid: 'another' }],
  ['no kid', { kid: undefined }],
  ['an empty kid', { kid: '' }],
  ['a kid like an inherited property', { kid: '__proto__' }],
  ['a kid that is a list', { kid: ['test'] }],
  ['a key of its own', { kid: undefined, jwk: other.public.keys[0] }],
  ['no typ', { typ: undefined }],
  ['the plain typ', { typ: 'JWT' }],
  ['the typ of an MFA challenge', { typ: 'mfa-challenge+jwt' }],
  ['the typ of an MFA set-up', { typ: 'mfa-setup+jwt' }],
])('401: a header with %s is refused', (_what, header) => {
  expect(() => admit(forge(header))).toThrow(refusal);
});

test.each<[string, Changes]>([
  ['another issuer', { iss: 'somebody' }],
  ['no issuer', { iss: undefined }],
  ['another audience', { aud: 'somebody' }],
  ['no audience', { aud: undefined }],
  ['no expiry', { exp: undefined }],
  ['an expiry of null', { exp: null }],
  ['an expiry that is a string', { exp: String(now + 890) }],
  ['an expiry this very second', { exp: now }],
  ['an expiry that has passed', { exp: now - 1 }],
  ['a start in the future', { nbf: now + 60 }],
  ['no sub', { sub: undefined }],
  ['an empty sub', { sub: '' }],
  ['no account', { account: undefined }],
  ['an empty account', { account: '' }],
  ['no role', { role: undefined }],
  ['an unknown role', { role: 'superuser' }],
  ['a list of roles', { role: ['owner'] }],
  ['no account type', { account_type: undefined }],
  ['a key claim without its fields', { key: {} }],
  ['a key claim of null', { key: null }],
  ['a billing claim that is not a string', { bil: null }],
])('401: claims with %s are refused', (_what, claims) => {
  expect(() => admit(forge({}, claims))).toThrow(refusal);
});

test('401: a valid token that is longer than the maximum is refused', () => {
  const withPadding = (length: number) => forge({}, { padding: 'x'.repeat(length) });
  const short = withPadding(4_000);
  expect(short.length).toBeLessThan(8_192);
  expect(admit(short).id).toBe(goodClaims.sub);
  const long = withPadding(6_000);
  expect(long.length).toBeGreaterThan(8_192);
  expect(() => admit(long)).toThrow(refusal);
  expect(verifier.verify('at+jwt', long)).toBeUndefined();
});

test('a token without an expiry is invalid as any kind', () => {
  expect(verifier.verify('at+jwt', forge())).toMatchObject({ exp: goodClaims.exp });
  expect(verifier.verify('at+jwt', forge({}, { exp: undefined }))).toBeUndefined();
});

test('a token is valid until the second before its expiry', () => {
  const token = forge();
  expect(verifierAt(goodClaims.exp - 1).authenticate(`Bearer ${token}`).id).toBe(goodClaims.sub);
  expect(() => verifierAt(goodClaims.exp).authenticate(`Bearer ${token}`)).toThrow(refusal);
});

describe('tokens of one kind are not accepted as another', () => {
  const types: TokenType[] = ['at+jwt', 'mfa-challenge+jwt', 'mfa-setup+jwt'];
  const pairs = types.flatMap((signed) => types.map((asked): [TokenType, TokenType] => [signed, asked]));

  test.each(pairs)('%s, taken for %s', (signed, asked) => {
    const token = createSigner(testKeys.private).sign(signed, { sub: 'usr_1' }, 60, new Date(now * 1000));
    const claims = verifier.verify(asked, token);
    if (signed === asked) expect(claims).toMatchObject({ sub: 'usr_1', iat: now, exp: now + 60 });
    else expect(claims).toBeUndefined();
  });
});

describe('keys', () => {
  const [older, newer] = [generateKeySets('older'), generateKeySets('newer')];
  const at = new Date(now * 1000);
  const sign = (keys: KeySet) => createSigner(keys).sign('at+jwt', identity, 60, at);
  const both: KeySet = { keys: [...newer.public.keys, ...older.public.keys] };

  test('the first private key signs and every public key verifies, so that keys can be replaced without ending sessions', () => {
    const privates = { keys: [...newer.private.keys, ...older.private.keys] };
    const verify = createVerifier(both, () => now * 1000).verify;
    for (const keys of [privates, older.private])
      expect(verify('at+jwt', sign(keys))).toMatchObject({ sub: goodClaims.sub });
    const onlyNewer = createVerifier(newer.public, () => now * 1000).verify;
    expect(onlyNewer('at+jwt', sign(privates))).toBeDefined();
    expect(onlyNewer('at+jwt', sign(older.private))).toBeUndefined();
  });

  test('the public set does not contain the private key', () => {
    expect(older.private.keys[0]).toHaveProperty('d');
    expect(JSON.stringify(older.public)).not.toContain(String(older.private.keys[0]?.d));
    expect(older.public.keys[0]).not.toHaveProperty('d');
  });

  test.each<[string, unknown]>([
    ['no keys', { keys: [] }],
    ['a key without a kid', { keys: [{ ...older.public.keys[0], kid: undefined }] }],
    ['a key of another curve', { keys: [{ ...older.public.keys[0], crv: 'P-384' }] }],
    ['an RSA key', { keys: [{ kty: 'RSA', kid: 'r', n: 'AQAB', e: 'AQAB' }] }],
    ['a secret', { keys: [{ kty: 'oct', kid: 's', k: 'AAAA' }] }],
    ['a bare key', older.public.keys[0]],
  ])('a set with %s is none', (_what, set) => {
    expect(KeySet.safeParse(set).success).toBe(false);
  });
});
