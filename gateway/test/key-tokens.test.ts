import { type Endpoint, endpoints } from '@attribution/contracts';
import { keyToken, personToken, supportToken } from '@attribution/testing';
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

const writing = { type: 'api', readonly: false };
/** Keys of every kind, from the most restricted to the most powerful. */
const keys = () => [
  keyToken(),
  keyToken({ role: 'member', key: writing }),
  keyToken({ role: 'admin', key: writing }),
  keyToken({ role: 'admin', key: { type: 'production', readonly: false } }),
];

const lines = (of: readonly Endpoint[]) =>
  of.map(({ method, path }) => [method, path.replaceAll(/\{[a-z_]+\}/g, 'x')] as const);
const noKeys = /^An API key cannot be used here/;

/** The areas that decision 27 closes to keys. The MFA challenge at login comes before there is a token. */
const persons = /^\/v2\/(users|invitations|api-keys|mfa|accounts\/switch)(\/|$)/;
const people = endpoints.filter(({ path }) => persons.test(path) && path !== '/v2/mfa/challenge/verify');

test('users, invitations, keys, switching and MFA each have endpoints that are closed to keys', () => {
  const areas = people.map(({ path }) => persons.exec(path)?.[1]);
  expect([...new Set(areas)].sort()).toEqual(['accounts/switch', 'api-keys', 'invitations', 'mfa', 'users']);
});

/** These endpoints, and all others that the contract reserves for people. */
const closedToKeys = endpoints.filter(
  (one) => people.includes(one) || ['person', 'optional'].includes(one.access.credential),
);

test.each(lines(closedToKeys))('403: %s %s refuses every key, also one with write access', async (method, path) => {
  for (const token of keys()) expectProblem(await gateway.send(path, { method, token }), 'forbidden', noKeys);
  expect(upstream.started).toHaveLength(0);
});

test.each(lines(closedToKeys.filter(({ method }) => method === 'GET')))(
  '403: a key cannot use HEAD on %s %s either',
  async (_get, path) => {
    for (const token of keys()) expect((await gateway.send(path, { method: 'HEAD', token })).status).toBe(403);
    expect(upstream.started).toHaveLength(0);
  },
);

const spellings = [
  '//v2/api-keys',
  '/v2//api-keys',
  '/v2/api-keys/',
  '/v2/API-KEYS',
  '/v2/api%2dkeys',
  '/v2/api-key%73',
  '/v2/./api-keys',
  '/v2/plans/../api-keys',
  '/v2/plans/%2e%2e/api-keys',
  '/v2/plans/..%2fapi-keys',
  '/v2/api-keys;x=1',
  '/v2\\api-keys',
  '/v2/users/',
  '/v2/Users/me',
  '/v2/users/./me',
  '/v2/accounts//switch',
  '/v2/accounts/%73witch',
];

test.each(spellings)('404: no other spelling of a path admits a key: %s', async (path) => {
  const token = keyToken({ role: 'admin', key: writing });
  for (const method of ['GET', 'POST']) expectProblem(await gateway.send(path, { method, token }), 'not-found');
  expect(upstream.started).toHaveLength(0);
});

const writes = endpoints.filter(({ access, method }) => access.credential === 'any' && method !== 'GET');

test.each(lines(writes))('403: %s %s refuses a read-only key', async (method, path) => {
  for (const token of [keyToken({ role: 'admin', key: { type: 'api', readonly: true } }), keyToken({ key: writing })])
    expectProblem(await gateway.send(path, { method, token }), 'forbidden', /read-only/);
  expect(upstream.started).toHaveLength(0);
});

test.each(['/v2/plans', '/v2/campaigns', '/v2/api-keys', '/v2/auth/logout'])(
  '401: the two halves of a key do not authenticate at %s',
  async (path) => {
    const halves = { 'x-access-key-id': `atp_stage_${'a'.repeat(22)}`, 'x-access-key-secret': 'a'.repeat(40) };
    const method = path === '/v2/auth/logout' ? 'POST' : 'GET';
    expectProblem(await gateway.send(path, { method, headers: halves }), 'unauthorized');
    expectProblem(await gateway.send(`${path}?${new URLSearchParams(halves)}`, { method }), 'unauthorized');
    expect(upstream.started).toHaveLength(0);
  },
);

const isSelf = (access: Endpoint['access']) => 'about_self' in access || access.credential === 'optional';
const withToken = endpoints.filter(({ access }) => access.credential !== 'none');
const isForSupport = (one: Endpoint) => one.method === 'GET' && !isSelf(one.access);

test.each(lines(withToken.filter(isForSupport)))('a support session may read %s %s', async (method, path) => {
  expect((await gateway.send(path, { method, token: supportToken() })).status).toBe(200);
  expect((await gateway.send(path, { method: 'HEAD', token: supportToken() })).status).toBe(200);
});

test.each(lines(withToken.filter((one) => !isForSupport(one))))(
  '403: %s %s refuses a support session, which may only read',
  async (method, path) => {
    const headers = { 'x-http-method-override': 'GET' };
    const reply = await gateway.send(path, { method, token: supportToken(), headers });
    expectProblem(reply, 'forbidden', 'A support session only looks on.');
    expect(upstream.started).toHaveLength(0);
  },
);

test('a person may use what keys and support sessions may not', async () => {
  const token = personToken();
  for (const [method, path] of lines(closedToKeys))
    expect((await gateway.send(path, { method, token })).status).toBe(200);
});

test.each(['x-http-method-override', 'x-http-method', 'x-method-override'])(
  '403: a read-only key cannot write, whatever %s says',
  async (name) => {
    const token = keyToken();
    for (const method of ['GET', 'HEAD']) {
      const reply = await gateway.send('/v2/campaigns', { method: 'POST', token, headers: { [name]: method } });
      expectProblem(reply, 'forbidden', /read-only/);
    }
    expect(upstream.started).toHaveLength(0);
    await gateway.send('/v2/campaigns', { token, headers: { [name]: 'DELETE' } });
    expect(upstream.started.map(({ method }) => method)).toEqual(['GET']);
  },
);

test('a read-only key may use GET and HEAD, and a member key with write access may write', async () => {
  for (const method of ['GET', 'HEAD']) {
    expect((await gateway.send('/v2/campaigns', { method, token: keyToken() })).status).toBe(200);
  }
  const token = keyToken({ role: 'member', key: writing });
  expect((await gateway.send('/v2/campaigns', { method: 'POST', token })).status).toBe(200);
});
