import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { eventually, personToken } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createForwarder } from '../src/forwarder.ts';
import { startGateway, startTcpUpstream, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream((res, { body, headers }) => {
    if (headers['x-test-chunked'] === undefined) res.setHeader('content-length', body.length);
    res.end(body);
  });
  gateway = await startGateway(upstream);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const path = '/v2/campaigns';
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, n) => n));

test.each([
  ['nothing', Buffer.alloc(0)],
  ['JSON with unusual spacing', Buffer.from('{ "a" : 1.0,\r\n\t"b":"\\u00e9\u00e9" }\n')],
  ['invalid JSON', Buffer.from('{"a":')],
  ['all 256 byte values', everyByte],
  ['bytes that look like a request', Buffer.from('\r\n\r\nGET /internal HTTP/1.1\r\nHost: a\r\n\r\n')],
  ['5 MB', randomBytes(5_000_000)],
])('a body of %s is forwarded and returned byte for byte', async (_what, body) => {
  for (const headers of [{}, { 'x-test-chunked': '1' }]) {
    const reply = await gateway.send(path, {
      method: 'POST',
      token,
      body,
      headers: { ...headers, 'content-type': 'application/json' },
    });
    expect(reply.status).toBe(200);
    expect(sha256(upstream.seen.at(-1)?.body ?? Buffer.alloc(0))).toBe(sha256(body));
    expect(sha256(reply.body)).toBe(sha256(body));
    expect(upstream.seen.at(-1)?.headers['content-type']).toBe('application/json');
  }
});

/** A POST whose body the test writes in pieces. */
function open(headers: Record<string, string> = {}, { port }: { readonly port: number } = gateway): ClientRequest {
  return request({
    port,
    path,
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });
}

async function bodyOf(req: ClientRequest): Promise<Buffer> {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test('a chunked body is forwarded as it arrives, and stays chunked', async () => {
  let arrived = '';
  const slow = await startTcpUpstream((socket) => {
    socket.on('data', (bytes) => {
      arrived += bytes.toString();
      if (arrived.endsWith('\r\n0\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nread');
    });
  });
  const inFront = await startGateway(slow);
  const req = open({}, inFront);
  req.write('first,');
  await eventually(() => expect(arrived).toMatch(/\r\ntransfer-encoding: chunked\r\n.*\r\n\r\n6\r\nfirst,\r\n$/is));
  expect(arrived).not.toMatch(/content-length/i);
  req.end('second');
  expect((await bodyOf(req)).toString()).toBe('read');
  expect(arrived.endsWith('6\r\nfirst,\r\n6\r\nsecond\r\n0\r\n\r\n')).toBe(true);
  await inFront.stop();
  await slow.stop();
});

test('a body whose pieces have all arrived before it is forwarded is forwarded whole', async () => {
  const chunks = ['first,', 'second,', 'third'].map((text) => `${text.length.toString(16)}\r\n${text}\r\n`).join('');
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n`;
  const reply = await gateway.raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  expect(reply).toMatch(/^HTTP\/1\.1 200 /);
  expect(upstream.seen.at(-1)?.body.toString()).toBe('first,second,third');

  // As while the credential is looked up, or the rate limit.
  const forwarder = createForwarder({ upstreams: { campaign: upstream.url }, timeoutMs: 5_000 });
  const edge = createServer(async (req, res) => {
    await eventually(() => expect(req.complete).toBe(true));
    await forwarder.forward('campaign', req, res, () => {});
  }).listen(0, '127.0.0.1');
  await once(edge, 'listening');
  const pieces = [randomBytes(16_000), randomBytes(16_000), randomBytes(8_000)];
  const { port } = edge.address() as AddressInfo;
  const req = open({ 'content-length': '40000' }, { port });
  const echoed = bodyOf(req); // It may be there before the end is written.
  for (const piece of pieces) {
    req.write(piece);
    await setTimeout(20); // Each is a packet of its own.
  }
  req.end();
  expect(sha256(await echoed)).toBe(sha256(Buffer.concat(pieces)));
  edge.close();
  forwarder.close();
});

test('a response is passed back as it is written, not when it is complete', async () => {
  const writing = Promise.withResolvers<void>();
  const slow = await startUpstream(async (res) => {
    res.write('first,');
    await writing.promise;
    res.end('second');
  });
  const inFront = await startGateway(slow);
  const req = request({
    port: inFront.port,
    path: '/v2/plans',
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  }).end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const [first] = (await once(res, 'data')) as [Buffer];
  expect(first.toString()).toBe('first,');
  writing.resolve();
  const [second] = (await once(res, 'data')) as [Buffer];
  expect(second.toString()).toBe('second');
  await inFront.stop();
  await slow.stop();
});

test('the gateway itself responds to Expect: 100-continue, and the body follows', async () => {
  const req = open({ expect: '100-continue', 'content-length': '4' });
  req.flushHeaders();
  await once(req, 'continue');
  req.end('body');
  expect((await bodyOf(req)).toString()).toBe('body');
  expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('expect');
});

test('an unknown expectation is ignored', async () => {
  const req = open({ expect: 'a-miracle', 'content-length': '4' });
  req.end('body');
  expect((await bodyOf(req)).toString()).toBe('body');
});

test.each(['GET', 'DELETE'])('a body of a %s is forwarded too', async (method) => {
  const id = 'grp_0190a1b2-0000-7000-8000-000000000000';
  const reply = await gateway.send(`/v2/groups/${id}`, {
    method,
    token,
    body: 'body',
    headers: { 'content-length': '4' },
  });
  expect(reply.body.toString()).toBe('body');
  expect(upstream.seen.at(-1)).toMatchObject({ method, url: `/v2/groups/${id}` });
});

test('a request without a body reaches the service without one', async () => {
  for (const method of ['GET', 'HEAD', 'POST']) {
    const reply = await gateway.send(path, { method, token });
    expect(reply.status).toBe(200);
    expect(upstream.seen.at(-1)?.body).toHaveLength(0);
  }
  const response = await gateway.raw(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  );
  expect(response).toMatch(/^HTTP\/1.1 200 /);
  expect(upstream.seen.at(-1)?.body).toHaveLength(0);
});

test('an early refusal of a large body reaches the client, and the connection stays usable', async () => {
  const body = randomBytes(5_000_000);
  for (const _ of [1, 2, 3]) expect((await gateway.send(path, { method: 'POST', body })).status).toBe(401);
  expect((await gateway.send(path, { method: 'POST', body, token })).body).toHaveLength(body.length);
});
