import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { eventually, personToken } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import {
  expectProblem,
  type Reply,
  range,
  startGateway,
  startTcpUpstream,
  startUpstream,
  type TestGateway,
} from './support.ts';

const token = personToken();
const path = '/v2/campaigns';
/** Long enough that a busy machine does not exceed it, short enough for a test to wait. */
const UPSTREAM_TIMEOUT_MS = '1000';

let cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of cleanups) await stop();
  cleanups = [];
});

async function startBefore(upstream: { url: string; stop(): Promise<void> }): Promise<TestGateway> {
  const gateway = await startGateway(upstream, { UPSTREAM_TIMEOUT_MS });
  cleanups.push(() => gateway.stop(), upstream.stop);
  return gateway;
}

/** An upstream that writes to each connection as soon as a request begins to arrive on it. */
const responding = (write: (socket: Socket) => void) =>
  startTcpUpstream((socket) => void socket.once('data', () => write(socket)));

function expectUpstreamError(reply: Reply, gateway: TestGateway, upstream: { url: string }): void {
  expectProblem(reply, 'upstream-error', /did not answer/);
  expect(reply.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
  expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  // The response does not reveal the addresses of services; the log names the failure.
  expect(reply.body.toString()).not.toContain(new URL(upstream.url).port);
  expect(gateway.logs.text()).toContain('An upstream failed');
}

test('502: the port of the service is closed', async () => {
  const stopped = await startTcpUpstream(() => {});
  await stopped.stop();
  const gateway = await startGateway(stopped);
  expectUpstreamError(await gateway.send(path, { token }), gateway, stopped);
  expectUpstreamError(
    await gateway.send(path, { method: 'POST', token, body: 'x'.repeat(5_000_000) }),
    gateway,
    stopped,
  );
  await gateway.stop();
});

const half = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Writes the same bytes again and again, which never complete a response. */
function repeat(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), 50);
  socket.once('close', () => clearInterval(timer));
}

const failures: [string, (socket: Socket) => void][] = [
  ['closes the connection', (socket) => socket.end()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['closes within the status line', (socket) => socket.end('HTTP/1.1 2')],
  ['closes within the headers', (socket) => socket.end(half)],
  ['hangs', () => {}],
  ['hangs within the headers', (socket) => socket.write(half)],
  ['sends noise', (socket) => socket.end('\x00\xff\x13\x37'.repeat(100), 'latin1')],
  ['speaks another protocol', (socket) => socket.end('220 mail.example ESMTP\r\n')],
  ['responds with HTTP/9.9', (socket) => socket.end('HTTP/9.9 200 OK\r\n\r\n')],
  ['responds with a header of 100 KB', (socket) => socket.end(`${half}X-Large: ${'x'.repeat(100_000)}\r\n\r\n`)],
  ['responds with two lengths', (socket) => socket.end(`${half}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`)],
  ['responds with a status below 100', (socket) => socket.end('HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n')],
  ['responds with the status 000', (socket) => socket.end('HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n')],
  ['responds with a NUL in a header', (socket) => socket.end(`${half}X-Bad: a\0b\r\nContent-Length: 0\r\n\r\n`)],
  ['sends only 100 Continue', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ['sends 100 Continue endlessly', (socket) => repeat(socket, 'HTTP/1.1 100 Continue\r\n\r\n')],
  ['sends early hints endlessly', (socket) => repeat(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')],
  [
    'sends headers endlessly',
    (socket) => {
      socket.write(half);
      repeat(socket, 'X-More: and more\r\n');
    },
  ],
  [
    'switches protocols without a request for it',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  ],
  [
    'switches protocols and closes',
    (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  ],
];

test.each(failures)(
  '502: an upstream that %s; the gateway survives and keeps no connection to it',
  async (_what, write) => {
    const upstream = await responding(write);
    const gateway = await startBefore(upstream);
    expectUpstreamError(await gateway.send(path, { token }), gateway, upstream);
    expectUpstreamError(await gateway.send(path, { method: 'POST', token, body: '{}' }), gateway, upstream);
    await eventually(() => expect(upstream.connections.open).toBe(0));
    expectProblem(await gateway.send('/v2/nothing'), 'not-found');
  },
);

const cuts: [string, (socket: Socket) => void][] = [
  ['closes within a body of known length', (socket) => socket.end(`${half}Content-Length: 10\r\n\r\n{"a":`)],
  ['closes within a chunked body', (socket) => socket.end(`${half}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`)],
  [
    'resets within a body',
    (socket) =>
      void socket.write(`${half}Content-Length: 10\r\n\r\n{"a":`, () => setImmediate(() => socket.resetAndDestroy())),
  ],
  ['hangs within a body', (socket) => socket.write(`${half}Content-Length: 10\r\n\r\n{"a":`)],
  ['sends an invalid chunk', (socket) => socket.end(`${half}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\nzz\r\n`)],
];

test.each(cuts)(
  'an upstream that %s: the connection is cut, so that a partial response does not look complete',
  async (_what, write) => {
    const upstream = await responding(write);
    const gateway = await startBefore(upstream);
    const response = await gateway.raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(response).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(gateway.logs.text()).toContain('An upstream failed');
    await eventually(() => expect(upstream.connections.open).toBe(0));
    expectProblem(await gateway.send('/v2/nothing'), 'not-found');
  },
);

test('a response with an invalid reason phrase is passed back without the phrase', async () => {
  const upstream = await responding((socket) => socket.end('HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\n{}'));
  const gateway = await startBefore(upstream);
  expect(await gateway.send(path, { token })).toMatchObject({ status: 200, body: Buffer.from('{}') });
});

test('502: an upstream that accepts no connection times out', async () => {
  // The process listens but its only thread never accepts: when the backlog is full, connecting hangs.
  const code = `const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('fs').writeSync(1, String(s.address().port) + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
  const blocked = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(async () => blocked.kill('SIGKILL'));
  const [port] = (await once(blocked.stdout, 'data')) as [Buffer];
  const upstream = { url: `http://127.0.0.1:${String(port).trim()}`, stop: async () => {} };
  const gateway = await startBefore(upstream);
  const replies = await Promise.all(range(6).map(() => gateway.send(path, { token })));
  for (const reply of replies) expectUpstreamError(reply, gateway, upstream);
});

test('502: after a large body to an upstream that fails the connection stays usable', async () => {
  const upstream = await responding((socket) => socket.resetAndDestroy());
  const gateway = await startBefore(upstream);
  for (const _ of range(25)) {
    expectProblem(await gateway.send(path, { method: 'POST', token, body: 'x'.repeat(5_000_000) }), 'upstream-error');
    expectProblem(await gateway.send('/v2/nothing'), 'not-found');
  }
});

test('502: twenty parallel requests to a hanging upstream fail; another service responds meanwhile', async () => {
  const hanging = await startTcpUpstream(() => {});
  const working = await startUpstream();
  const gateway = await startGateway(working, { UPSTREAM_TIMEOUT_MS, CAMPAIGN_URL: hanging.url });
  cleanups.push(() => gateway.stop(), hanging.stop, working.stop);
  const failing = range(20).map(() => gateway.send(path, { token }));
  await eventually(() => expect(hanging.connections.open).toBe(20));
  expect((await gateway.send('/v2/plans', { token })).status).toBe(200);
  for (const reply of await Promise.all(failing)) expectUpstreamError(reply, gateway, hanging);
  await eventually(() => expect(hanging.connections.open).toBe(0));
});

test('requests to an upstream that hangs do not wait for each other', async () => {
  const hanging = await startTcpUpstream(() => {});
  const gateway = await startGateway(hanging);
  cleanups.push(() => gateway.stop());
  const replies = range(600).map(() => gateway.send(path, { token }));
  await eventually(() => expect(hanging.connections.open).toBe(600));
  await hanging.stop();
  for (const reply of await Promise.all(replies)) expectUpstreamError(reply, gateway, hanging);
});

test('an upstream that is back is used immediately', async () => {
  const flaky = await startUpstream();
  const gateway = await startBefore(flaky);
  expect((await gateway.send(path, { token })).status).toBe(200);
  const { port } = new URL(flaky.url);
  await flaky.stop();
  expectProblem(await gateway.send(path, { token }), 'upstream-error');
  const again = await startUpstream(undefined, Number(port));
  cleanups.push(again.stop);
  expect((await gateway.send(path, { token })).status).toBe(200);
});
