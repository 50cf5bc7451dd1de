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
/** Long enough to tell a hanging upstream from a busy machine, short enough to wait for. */
const UPSTREAM_TIMEOUT_MS = '1000';

let undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of undo) await stop();
  undo = [];
});

async function before(upstream: { url: string; stop(): Promise<void> }): Promise<TestGateway> {
  const gateway = await startGateway(upstream, { UPSTREAM_TIMEOUT_MS });
  undo.push(() => gateway.stop(), upstream.stop);
  return gateway;
}

/** An upstream that writes to each connection as soon as a request has begun to arrive on it. */
const answering = (write: (socket: Socket) => void) =>
  startTcpUpstream((socket) => void socket.once('data', () => write(socket)));

function expectUpstreamError(reply: Reply, gateway: TestGateway, upstream: { url: string }): void {
  expectProblem(reply, 'upstream-error', /did not answer/);
  expect(reply.headers).toMatchObject({ 'retry-after': '1', 'cache-control': 'no-store' });
  expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  // Where services are is nobody's business; the log says it.
  expect(reply.body.toString()).not.toContain(new URL(upstream.url).port);
  expect(gateway.logs.text()).toContain('An upstream failed');
}

test('502: nobody listens', async () => {
  const gone = await startTcpUpstream(() => {});
  await gone.stop();
  const gateway = await startGateway(gone);
  expectUpstreamError(await gateway.send(path, { token }), gateway, gone);
  expectUpstreamError(await gateway.send(path, { method: 'POST', token, body: 'x'.repeat(5_000_000) }), gateway, gone);
  await gateway.stop();
});

const half = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Writes the same again and again: a sign of life each time, and never an answer. */
function goOn(socket: Socket, piece: string): void {
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
  ['speaks noise', (socket) => socket.end('\x00\xff\x13\x37'.repeat(100), 'latin1')],
  ['speaks another protocol', (socket) => socket.end('220 mail.example ESMTP\r\n')],
  ['answers HTTP/9.9', (socket) => socket.end('HTTP/9.9 200 OK\r\n\r\n')],
  ['answers a header of 100 KB', (socket) => socket.end(`${half}X-Large: ${'x'.repeat(100_000)}\r\n\r\n`)],
  ['answers two lengths', (socket) => socket.end(`${half}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`)],
  ['answers a status below 100', (socket) => socket.end('HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n')],
  ['answers the status 000', (socket) => socket.end('HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n')],
  ['answers a header with a NUL', (socket) => socket.end(`${half}X-Bad: a\0b\r\nContent-Length: 0\r\n\r\n`)],
  ['says only 100 Continue', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ['says 100 Continue without an end', (socket) => goOn(socket, 'HTTP/1.1 100 Continue\r\n\r\n')],
  ['gives early hints without an end', (socket) => goOn(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')],
  [
    'writes headers without an end',
    (socket) => {
      socket.write(half);
      goOn(socket, 'X-More: and more\r\n');
    },
  ],
  [
    'switches protocols unasked',
    (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  ],
  [
    'switches protocols and closes',
    (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  ],
];

test.each(failures)(
  '502: an upstream that %s; the gateway lives on and keeps no connection of it',
  async (_what, write) => {
    const upstream = await answering(write);
    const gateway = await before(upstream);
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
  [
    'writes a chunk that is none',
    (socket) => socket.end(`${half}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\nzz\r\n`),
  ],
];

test.each(cuts)(
  'an upstream that %s: the connection is cut, so that half an answer is not taken for a whole',
  async (_what, write) => {
    const upstream = await answering(write);
    const gateway = await before(upstream);
    const answer = await gateway.raw(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(answer).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(gateway.logs.text()).toContain('An upstream failed');
    await eventually(() => expect(upstream.connections.open).toBe(0));
    expectProblem(await gateway.send('/v2/nothing'), 'not-found');
  },
);

test('an answer whose reason phrase no header may hold passes without it', async () => {
  const upstream = await answering((socket) => socket.end('HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\n{}'));
  const gateway = await before(upstream);
  expect(await gateway.send(path, { token })).toMatchObject({ status: 200, body: Buffer.from('{}') });
});

test('502: an upstream that takes no connection is given up in time', async () => {
  // It listens, and its one thread never comes to take what waits: when its backlog is full, connecting hangs.
  const code = `const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('fs').writeSync(1, String(s.address().port) + '\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
  const deaf = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  undo.push(async () => deaf.kill('SIGKILL'));
  const [port] = (await once(deaf.stdout, 'data')) as [Buffer];
  const upstream = { url: `http://127.0.0.1:${String(port).trim()}`, stop: async () => {} };
  const gateway = await before(upstream);
  const replies = await Promise.all(range(6).map(() => gateway.send(path, { token })));
  for (const reply of replies) expectUpstreamError(reply, gateway, upstream);
});

test('502: a large body to an upstream that fails leaves a connection that serves on', async () => {
  const upstream = await answering((socket) => socket.resetAndDestroy());
  const gateway = await before(upstream);
  for (const _ of range(25)) {
    expectProblem(await gateway.send(path, { method: 'POST', token, body: 'x'.repeat(5_000_000) }), 'upstream-error');
    expectProblem(await gateway.send('/v2/nothing'), 'not-found');
  }
});

test('502: twenty at once to a hanging upstream fail alone; another service answers meanwhile', async () => {
  const hanging = await startTcpUpstream(() => {});
  const working = await startUpstream();
  const gateway = await startGateway(working, { UPSTREAM_TIMEOUT_MS, CAMPAIGN_URL: hanging.url });
  undo.push(() => gateway.stop(), hanging.stop, working.stop);
  const failing = range(20).map(() => gateway.send(path, { token }));
  await eventually(() => expect(hanging.connections.open).toBe(20));
  expect((await gateway.send('/v2/plans', { token })).status).toBe(200);
  for (const reply of await Promise.all(failing)) expectUpstreamError(reply, gateway, hanging);
  await eventually(() => expect(hanging.connections.open).toBe(0));
});

test('requests to an upstream that hangs do not wait for each other', async () => {
  const hanging = await startTcpUpstream(() => {});
  const gateway = await startGateway(hanging);
  undo.push(() => gateway.stop());
  const replies = range(600).map(() => gateway.send(path, { token }));
  await eventually(() => expect(hanging.connections.open).toBe(600));
  await hanging.stop();
  for (const reply of await Promise.all(replies)) expectUpstreamError(reply, gateway, hanging);
});

test('an upstream that comes back is used at once', async () => {
  const flaky = await startUpstream();
  const gateway = await before(flaky);
  expect((await gateway.send(path, { token })).status).toBe(200);
  const { port } = new URL(flaky.url);
  await flaky.stop();
  expectProblem(await gateway.send(path, { token }), 'upstream-error');
  const again = await startUpstream(undefined, Number(port));
  undo.push(again.stop);
  expect((await gateway.send(path, { token })).status).toBe(200);
});
