import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Respond, range, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let respond: Respond;
let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((res, seen) => respond(res, seen));
  gateway = await startGateway(upstream);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const path = '/v2/campaigns';

test.each([200, 201, 202, 400, 402, 403, 404, 409, 410, 422, 429, 503])(
  'a response of %d is passed back unchanged',
  async (status) => {
    respond = (res) =>
      void res.writeHead(status, { 'content-type': 'application/problem+json', 'x-own': '1' }).end('{"status":1}');
    const reply = await gateway.send(path, { token });
    expect(reply).toMatchObject({ status, headers: { 'content-type': 'application/problem+json', 'x-own': '1' } });
    expect(reply.body.toString()).toBe('{"status":1}');
  },
);

test.each([204, 304])('a response of %d has no body, and the connection stays usable', async (status) => {
  respond = (res) => void res.writeHead(status, { etag: '"1"' }).end();
  for (const _ of range(3)) {
    const reply = await gateway.send(path, { token });
    expect(reply).toMatchObject({ status, headers: { etag: '"1"' } });
    expect(reply.body).toHaveLength(0);
    expect(reply.headers).not.toHaveProperty('transfer-encoding');
  }
});

test('HEAD gets the length and no body, and the connection stays usable', async () => {
  respond = (res, { method }) =>
    void res.writeHead(200, { 'content-length': '5' }).end(method === 'HEAD' ? undefined : 'hello');
  for (const _ of range(3)) {
    const head = await gateway.send(path, { method: 'HEAD', token });
    expect(head.headers['content-length']).toBe('5');
    expect(head.body).toHaveLength(0);
    expect((await gateway.send(path, { token })).body.toString()).toBe('hello');
  }
});

test.each([
  ['server', 'nginx/1.0'],
  ['x-powered-by', 'Express'],
  ['x-internal-note', 'for services'],
  ['keep-alive', 'timeout=7, max=100'],
  ['proxy-connection', 'keep-alive'],
  ['proxy-authenticate', 'Basic'],
  ['trailer', 'X-Checksum'],
  ['upgrade', 'h2c'],
])('the header %s of a service does not reach the client', async (name, value) => {
  respond = (res) => void res.writeHead(200, { [name]: value, 'x-own': '1', 'transfer-encoding': 'chunked' }).end('x');
  const { headers } = await gateway.send(path, { token });
  expect(headers['x-own']).toBe('1');
  expect(headers[name]).not.toBe(value);
});

test("headers that the service's Connection lists do not reach the client", async () => {
  respond = (res) => void res.writeHead(200, { connection: 'close, X-Hop', 'x-hop': '1', 'x-own': '1' }).end();
  const { headers } = await gateway.send(path, { token });
  expect(headers).not.toHaveProperty('x-hop');
  expect(headers).toMatchObject({ 'x-own': '1', connection: 'keep-alive' });
});

test("a service that closes its connection does not close the client's", async () => {
  respond = (res) => void res.writeHead(200, { connection: 'close' }).end();
  for (const _ of range(3)) expect((await gateway.send(path, { token })).headers.connection).toBe('keep-alive');
});

test('a client that asks for it gets a closed connection, whether a service or the gateway responds', async () => {
  respond = (res) => void res.end('{}');
  for (const target of [path, '/v2/nothing']) {
    const text = await gateway.raw(
      `GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  }
});

test('an HTTP/1.0 client gets a response without chunks, and the connection is closed', async () => {
  respond = (res) => {
    res.write('one,');
    res.end('two');
  };
  const text = await gateway.raw(`GET ${path} HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(text).not.toMatch(/transfer-encoding/i);
  expect(text.endsWith('\r\n\r\none,two')).toBe(true);
});

test('several Set-Cookie headers stay separate', async () => {
  respond = (res) =>
    void res.writeHead(200, { 'set-cookie': ['a=1; Path=/', 'b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT'] }).end();
  const { headers } = await gateway.send(path, { token });
  expect(headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT']);
});

test('a redirect of a service is passed to the client, not followed', async () => {
  respond = (res) => void res.writeHead(302, { location: 'http://internal.example/x' }).end();
  const reply = await gateway.send(path, { token });
  expect(reply).toMatchObject({ status: 302, headers: { location: 'http://internal.example/x' } });
});

test('unrequested early hints do not reach the client; the response after them does', async () => {
  respond = (res) => {
    res.writeEarlyHints({ link: '</style.css>; rel=preload' });
    res.end('{}');
  };
  for (const _ of range(3)) {
    const reply = await gateway.send(path, { token });
    expect(reply).toMatchObject({ status: 200, body: Buffer.from('{}') });
    expect(reply.headers).not.toHaveProperty('link');
  }
});

test("the gateway's own headers replace those of a service with the same name", async () => {
  respond = (res) => void res.writeHead(200, { 'x-request-id': 'theirs', 'referrer-policy': 'unsafe-url' }).end('{}');
  for (const sending of [{}, { method: 'POST', body: 'x'.repeat(200_000) }]) {
    const { headers } = await gateway.send(path, { token, ...sending });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['referrer-policy']).toBe('no-referrer');
  }
});

test('connections to a service are reused', async () => {
  const fresh = await startUpstream();
  const before = await startGateway(fresh);
  for (const n of range(30)) {
    const method = n % 3 === 0 ? 'POST' : 'GET';
    const body = method === 'POST' ? { body: '{}', headers: { 'content-length': '2' } } : {};
    expect((await before.send(path, { method, token, ...body })).status).toBe(200);
  }
  expect(fresh.connections.accepted).toBe(1);
  await Promise.all(range(20).map(() => before.send(path, { token })));
  expect(fresh.connections.accepted).toBeLessThanOrEqual(20);
  await before.stop();
  await fresh.stop();
});
