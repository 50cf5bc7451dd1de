import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { generateKeySets } from '@attribution/auth';
import { type Endpoint, endpoints } from '@attribution/contracts';
import { badTokens, eventually, personToken, testKeys } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { expectProblem, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway(upstream);
});
beforeEach(() => void upstream.started.splice(0));
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const [, payload = '', signature = ''] = token.split('.');
const given = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const header = { alg: 'ES256', typ: 'at+jwt', kid: 'test' };

/** A token with a valid signature, so that what the test has changed is its only fault. */
function signed(changes: { header?: object; claims?: object }, keys = testKeys): string {
  const text = `${encode({ ...header, ...changes.header })}.${encode({ ...given, ...changes.claims })}`;
  const key = createPrivateKey({ key: keys.private.keys[0] as never, format: 'jwk' });
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** The known algorithm confusion: a symmetric signature with the public key as its secret. */
const publicKey = createPublicKey({ key: testKeys.public.keys[0] as never, format: 'jwk' });
const hs256 = `${encode({ ...header, alg: 'HS256' })}.${payload}`;
const pem = publicKey.export({ format: 'pem', type: 'spki' });
const mac = createHmac('sha256', pem).update(hs256).digest('base64url');

const stranger = generateKeySets('test');
const [jwk] = stranger.public.keys;

const refused: [string, string | undefined][] = [
  ...badTokens().map(([what, bad]): [string, string | undefined] => [what, bad && `Bearer ${bad}`]),
  ['an empty header', ''],
  ['a scheme alone', 'Bearer'],
  ['another scheme', `Basic ${Buffer.from('a:b').toString('base64')}`],
  ['a good token under another scheme', `Token ${token}`],
  ['two tokens', `Bearer ${token}, Bearer ${token}`],
  ['three empty parts', 'Bearer ..'],
  ['a token cut short', `Bearer ${token.slice(0, -3)}`],
  ['a token of no type', `Bearer ${signed({ header: { typ: undefined } })}`],
  ['a plain JWT', `Bearer ${signed({ header: { typ: 'JWT' } })}`],
  ['alg none over a good signature', `Bearer ${encode({ ...header, alg: 'none' })}.${payload}.${signature}`],
  ['HS256 keyed with the public key as PEM', `Bearer ${hs256}.${mac}`],
  ['another key, which the token itself brings', `Bearer ${signed({ header: { jwk, kid: undefined } }, stranger)}`],
  ['an unknown kid over a good signature', `Bearer ${signed({ header: { kid: 'another' } })}`],
  ['no kid', `Bearer ${signed({ header: { kid: undefined } })}`],
  ['a kid that is a path', `Bearer ${signed({ header: { kid: '../../dev/null' } })}`],
  ['another issuer', `Bearer ${signed({ claims: { iss: 'another' } })}`],
  ['another audience', `Bearer ${signed({ claims: { aud: 'another' } })}`],
  ['no expiry', `Bearer ${signed({ claims: { exp: undefined } })}`],
  ['claims without an account', `Bearer ${signed({ claims: { account: undefined } })}`],
  ['an unknown role', `Bearer ${signed({ claims: { role: 'root' } })}`],
  ['a token longer than any that Account issues', `Bearer ${signed({ claims: { more: 'x'.repeat(9_000) } })}`],
];

test.each(refused)('401: %s', async (_what, authorization) => {
  const reply = await gateway.send('/v2/plans', { headers: { ...(authorization !== undefined && { authorization }) } });
  expectProblem(reply, 'unauthorized', /bearer token is missing, invalid or expired/);
  expect(reply.headers['www-authenticate']).toBe('Bearer');
  expect(upstream.started).toHaveLength(0);
});

test('401: a token in the query does not authenticate', async () => {
  expectProblem(await gateway.send(`/v2/plans?access_token=${personToken()}`), 'unauthorized');
  expect(upstream.started).toHaveLength(0);
});

/** Method and path of each endpoint with one of these credentials; placeholders stand for ids. */
const linesOf = (...credentials: Endpoint['access']['credential'][]) =>
  endpoints
    .filter(({ access }) => credentials.includes(access.credential))
    .map(({ method, path }) => [method, path.replaceAll(/\{[a-z_]+\}/g, 'x')] as const);

test.each(linesOf('any', 'person'))('401: %s %s without a token does not reach its service', async (method, path) => {
  const reply = await gateway.send(path, { method });
  expectProblem(reply, 'unauthorized');
  expect(reply.headers['www-authenticate']).toBe('Bearer');
  expect(upstream.started).toHaveLength(0);
});

test.each(linesOf('optional'))('%s %s passes without a token; with an invalid one it is 401', async (method, path) => {
  expect((await gateway.send(path, { method })).status).toBe(200);
  expect((await gateway.send(path, { method, token })).status).toBe(200);
  for (const [, bad] of badTokens().filter(([, value]) => value !== undefined))
    expectProblem(await gateway.send(path, { method, headers: { authorization: `Bearer ${bad}` } }), 'unauthorized');
  expect(upstream.started).toHaveLength(2);
});

test('a token that the test signs itself, without changes, passes', async () => {
  expect((await gateway.send('/v2/plans', { token: signed({}) })).status).toBe(200);
});

test('a valid token passes, and is forwarded unchanged', async () => {
  expect((await gateway.send('/v2/plans', { token })).status).toBe(200);
  expect((await gateway.send('/v2/plans', { headers: { authorization: `bearer ${token}` } })).status).toBe(200);
  expect(upstream.started.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${token}`, `bearer ${token}`]);
});

test('an endpoint that needs no token ignores an invalid one', async () => {
  expect((await gateway.send('/v2/auth/signup', { method: 'POST', token: 'garbage' })).status).toBe(200);
});

test('a token that has expired since its first use is refused', async () => {
  const short = signed({ claims: { exp: Math.floor(Date.now() / 1000) + 3 } });
  expect((await gateway.send('/v2/plans', { token: short })).status).toBe(200);
  // After its first use the token is cached, and it must expire in the cache too.
  await eventually(async () => expectProblem(await gateway.send('/v2/plans', { token: short }), 'unauthorized'));
});
