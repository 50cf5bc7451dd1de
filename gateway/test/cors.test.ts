import { notFoundDetail } from '@attribution/contracts';
import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectProblem, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
let closed: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream(
    (res) => void res.writeHead(200, { 'access-control-allow-origin': '*', vary: 'accept' }).end(),
  );
  gateway = await startGateway(upstream, { CORS_ORIGINS: 'https://app.example,https://other.example' });
  closed = await startGateway(upstream);
});
afterAll(async () => {
  await gateway.stop();
  await closed.stop();
  await upstream.stop();
});

const token = personToken();
const origin = 'https://app.example';
const preflightHeaders = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
const exposed = [
  'content-disposition',
  'x-request-id',
  'retry-after',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
];

test.each([
  ['200', '/v2/plans', { token }],
  ['401', '/v2/plans', {}],
  ['404', '/v2/nothing', {}],
])('%s: an allowed origin may read the response and the headers that matter', async (status, path, sending) => {
  const { headers, ...reply } = await gateway.send(path, { ...sending, headers: { origin } });
  expect(reply.status).toBe(Number(status));
  expect(headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'origin' });
  expect(headers['access-control-expose-headers']?.split(', ').sort()).toEqual([...exposed].sort());
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
});

test('204: a preflight from an allowed origin gets its response for the whole API without a token, and reaches no service', async () => {
  const before = upstream.started.length;
  for (const path of ['/v2/campaigns', '/v2/auth/login']) {
    const { status, headers, body } = await gateway.send(path, {
      method: 'OPTIONS',
      headers: { origin, ...preflightHeaders },
    });
    expect(status).toBe(204);
    expect(body).toHaveLength(0);
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-max-age': '600',
      vary: 'origin',
    });
    expect(headers['access-control-allow-methods']?.split(', ')).toEqual(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
    expect(headers['access-control-allow-headers']?.split(', ')).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
    );
  }
  expect(upstream.started).toHaveLength(before);
});

test('preflights do not count against a limit', async () => {
  const path = '/v2/auth/forgot-password';
  for (let n = 0; n < 10; n++)
    await gateway.send(path, { method: 'OPTIONS', headers: { origin, ...preflightHeaders } });
  const reply = await gateway.send(path, { method: 'POST', headers: { origin } });
  expect(reply.headers['ratelimit-remaining']).toBe('2');
});

test.each([
  ['another origin', 'https://evil.example'],
  ['an origin that ends like an allowed one', 'https://evil-app.example'],
  ['an origin that begins like an allowed one', 'https://app.example.evil.example'],
  ['another scheme', 'http://app.example'],
  ['another port', 'https://app.example:8443'],
  ['another letter case', 'https://APP.example'],
  ['null', 'null'],
  ['two origins', 'https://app.example, https://other.example'],
  ['a list that contains an allowed one', 'https://app.example https://evil.example'],
  ['a wildcard', '*'],
])('404 and no permission: a preflight from %s', async (_what, from) => {
  const preflight = await gateway.send('/v2/plans', {
    method: 'OPTIONS',
    headers: { origin: from, ...preflightHeaders },
  });
  expectProblem(preflight, 'not-found', notFoundDetail);
  expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  expect(preflight.headers).not.toHaveProperty('access-control-allow-methods');
  expect(preflight.headers.vary).toBe('origin');
  const refused = await gateway.send('/v2/plans', { headers: { origin: from } });
  expect(refused.headers).not.toHaveProperty('access-control-allow-origin');
});

test('a service cannot permit other origins, and Vary names the origin whatever a service says', async () => {
  const other = await gateway.send('/v2/plans', { token, headers: { origin: 'https://evil.example' } });
  expect(other.status).toBe(200);
  expect(other.headers).not.toHaveProperty('access-control-allow-origin');
  expect(other.headers.vary).toMatch(/origin/);
  const none = await gateway.send('/v2/plans', { token });
  expect(none.headers).not.toHaveProperty('access-control-allow-origin');
  expect(none.headers.vary).toMatch(/origin/);
});

test('404: OPTIONS from an allowed origin that is not a preflight', async () => {
  const reply = await gateway.send('/v2/plans', { method: 'OPTIONS', headers: { origin } });
  expectProblem(reply, 'not-found', notFoundDetail);
  expect(reply.headers['access-control-allow-origin']).toBe(origin);
});

test('without configured origins nothing is allowed', async () => {
  const reply = await closed.send('/v2/plans', { method: 'OPTIONS', headers: { origin, ...preflightHeaders } });
  expectProblem(reply, 'not-found', notFoundDetail);
  for (const { headers } of [reply, await closed.send('/v2/plans', { token, headers: { origin } })]) {
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  }
});
