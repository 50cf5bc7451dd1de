import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { watchConnections } from '../src/connections.ts';
import { watchIdle } from '../src/idle-connections.ts';

let undo: (() => unknown)[] = [];
afterEach(() => {
  for (const step of undo.reverse()) step();
  undo = [];
});

const limit = 500;
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** A connection to a server whose own idle timeout is very long, and what arrives on it. */
async function open(answer: (req: IncomingMessage, res: ServerResponse) => void) {
  const server = createServer({ keepAliveTimeout: 600_000 }, (req, res) => {
    connections.enter(res);
    answer(req, res);
  });
  const connections = watchConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  undo.push(
    watchIdle(connections, limit),
    () => server.close(),
    () => server.closeAllConnections(),
    () => socket.destroy(),
  );
  const seen = { socket, gone: false, answers: 0 };
  socket.on('error', () => {}).once('close', () => (seen.gone = true));
  socket.on('data', (bytes) => (seen.answers += String(bytes).split('HTTP/1.1 200').length - 1));
  return seen;
}

function every(ms: number, act: () => unknown): void {
  const timer = setInterval(act, ms);
  undo.push(() => clearInterval(timer));
}

test('empty lines do not keep a connection open', async () => {
  const seen = await open((_req, res) => void res.end('ok'));
  seen.socket.write(get);
  await eventually(() => expect(seen.answers).toBe(1));
  every(50, () => seen.socket.write('\r\n'));
  await eventually(() => expect(seen.gone).toBe(true));
});

test('a connection that brings requests is kept', async () => {
  const seen = await open((_req, res) => void res.end('ok'));
  every(100, () => seen.socket.write(get));
  await sleep(5 * limit);
  expect(seen.gone).toBe(false);
  expect(seen.answers).toBeGreaterThan(5);
});

test('a connection that waits for a slow response is kept, even if its previous response is long ago', async () => {
  const seen = await open((_req, res) => void setTimeout(() => res.end('ok'), seen.answers === 0 ? 10 : 5 * limit));
  seen.socket.write(get);
  await eventually(() => expect(seen.answers).toBe(1));
  seen.socket.write(get);
  await eventually(() => expect(seen.answers).toBe(2));
});
