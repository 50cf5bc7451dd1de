import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newIp, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((res, { body }) => void res.end(body));
  gateway = await startGateway(upstream);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();

/** Sends these header lines, and returns the request that the service receives. */
async function forwarded(lines: string[], options: { body?: string; method?: string } = {}) {
  const { body = '', method = 'GET' } = options;
  const head = [`${method} /v2/campaigns HTTP/1.1`, 'Host: api.example', `Authorization: Bearer ${token}`, ...lines];
  // A second request closes the connection, so that the first can carry the `Connection` header of the test.
  const last = 'GET /none HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n\r\n';
  const before = upstream.seen.length;
  const response = await gateway.raw(`${head.join('\r\n')}\r\n\r\n${body}${last}`);
  expect(response).toMatch(/^HTTP\/1.1 200 /);
  expect(upstream.seen).toHaveLength(before + 1);
  return upstream.seen.at(-1) as Upstream['seen'][number];
}

test.each([
  ['Keep-Alive: timeout=5', 'keep-alive'],
  ['Proxy-Connection: keep-alive', 'proxy-connection'],
  ['Proxy-Authorization: Basic YTpi', 'proxy-authorization'],
  ['Proxy-Authenticate: Basic', 'proxy-authenticate'],
  ['TE: trailers', 'te'],
  ['Trailer: X-Checksum', 'trailer'],
  ['Upgrade: h2c', 'upgrade'],
  ['HTTP2-Settings: AAMAAABkAAQAAP__', 'http2-settings', 'Connection: HTTP2-Settings'],
  ['Forwarded: for=198.51.100.1;host=evil.example', 'forwarded'],
  ['X-Real-IP: 198.51.100.1', 'x-real-ip'],
  ['X-Forwarded-Host: evil.example', 'x-forwarded-host'],
  ['X-Forwarded-Port: 1', 'x-forwarded-port'],
  ['X-Forwarded-Prefix: /internal', 'x-forwarded-prefix'],
  ['X-Forwarded-Anything: 1', 'x-forwarded-anything'],
  ['X-Internal-Account: acc_1', 'x-internal-account'],
  ['x-INTERNAL-token: 1', 'x-internal-token'],
])('%s is not forwarded', async (line, name, ...more) => {
  const { headers } = await forwarded([line, 'X-Other: stays', ...more]);
  expect(headers).not.toHaveProperty(name);
  expect(headers['x-other']).toBe('stays');
});

test('headers that Connection lists are not forwarded, in any letter case and spacing, over several lines', async () => {
  const { headers } = await forwarded([
    'Connection: X-One,  x-two ,keep-alive',
    'Connection: X-THREE',
    'X-One: 1',
    'X-Two: 2',
    'x-three: 3',
    'X-Four: 4',
  ]);
  expect(headers).toMatchObject({ 'x-four': '4' });
  for (const name of ['x-one', 'x-two', 'x-three']) expect(headers).not.toHaveProperty(name);
  expect(headers.connection).toBe('keep-alive');
});

test('Connection cannot remove headers that name the caller, frame the body, or are set by the gateway', async () => {
  const listed = [
    'authorization',
    'content-length',
    'content-type',
    'host',
    'x-forwarded-for',
    'x-request-id',
    'traceparent',
  ];
  const seen = await forwarded(
    [
      `Connection: ${listed.join(', ')}`,
      'Content-Length: 4',
      'Content-Type: application/json',
      'X-Request-Id: kept-request-id',
    ],
    { method: 'POST', body: '[{}]' },
  );
  expect(seen.body.toString()).toBe('[{}]');
  expect(seen.headers).toMatchObject({
    authorization: `Bearer ${token}`,
    'content-length': '4',
    'content-type': 'application/json',
    host: 'api.example',
    'x-forwarded-for': '127.0.0.1',
    'x-request-id': 'kept-request-id',
  });
  expect(seen.headers.traceparent).toMatch(/^00-/);
});

test('Connection cannot remove Transfer-Encoding: the body stays framed', async () => {
  const lines = ['Connection: transfer-encoding', 'Transfer-Encoding: chunked'];
  const seen = await forwarded(lines, { method: 'POST', body: '4\r\n[{}]\r\n0\r\n\r\n' });
  expect(seen.body.toString()).toBe('[{}]');
});

test('Connection: upgrade is ignored, and the request is served', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  expect((await gateway.send('/v2/campaigns', { token, headers })).status).toBe(200);
  expect(upstream.seen.at(-1)?.headers).toMatchObject({ connection: 'keep-alive' });
  expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('upgrade');
});

test('the service gets the client address and the scheme that the gateway has found, each once', async () => {
  const ip = newIp();
  await gateway.send('/v2/campaigns', { token, ip: `198.51.100.1, ${ip}`, headers: { 'x-forwarded-proto': 'https' } });
  expect(upstream.seen.at(-1)?.headers).toMatchObject({ 'x-forwarded-for': ip, 'x-forwarded-proto': 'https' });
  await gateway.send('/v2/campaigns', { token, headers: { 'x-forwarded-proto': 'gopher' } });
  expect(upstream.seen.at(-1)?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
});

test('X-Forwarded-Proto of a peer that is not a trusted proxy is ignored', async () => {
  const untrusting = await startGateway(upstream, { TRUSTED_PROXIES: '192.0.2.1' });
  await untrusting.send('/v2/campaigns', { token, ip: newIp(), headers: { 'x-forwarded-proto': 'https' } });
  expect(upstream.seen.at(-1)?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
  await untrusting.stop();
});

test("the caller's other headers are forwarded unchanged", async () => {
  const own = {
    accept: 'application/json;q=0.5',
    'accept-language': 'fi, en',
    'idempotency-key': 'ABC def',
    'user-agent': 'client/1',
    cookie: 'a=1; b=2',
    'if-none-match': '"x"',
    'x-access-key-id': 'k_live_1',
    'x-http-method-override': 'DELETE',
  };
  await gateway.send('/v2/campaigns', { token, headers: own });
  expect(upstream.seen.at(-1)?.headers).toMatchObject(own);
});
