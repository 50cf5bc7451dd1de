import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, problemBase } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { listen, type RunningServer } from '../src/index.ts';

const clientTimeout = 500;
const host = 'Host: a\r\n';

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

async function serve(handler: (req: IncomingMessage, res: ServerResponse) => unknown): Promise<RunningServer> {
  const server = await listen((req, res) => void handler(req, res), {
    host: '127.0.0.1',
    port: 0,
    problemBase,
    clientTimeout,
  });
  undo.push(() => server.close(0));
  return server;
}

/** A connection that the client never closes. */
function open({ port }: RunningServer): { socket: Socket; text: () => string; gone: () => boolean } {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  undo.push(() => socket.destroy());
  let text = '';
  let gone = false;
  socket.on('error', () => {}).once('close', () => (gone = true));
  return {
    socket,
    gone: () => gone,
    text() {
      text += String(socket.read() ?? '');
      return text;
    },
  };
}

/** Writes endlessly. */
function goOn(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), 50);
  undo.push(() => clearInterval(timer));
}

test.each([
  ['a request line', 'GET /'],
  ['headers', `GET / HTTP/1.1\r\n${host}X-Slow: `],
  ['a body', `POST / HTTP/1.1\r\n${host}Content-Length: 1000000\r\n\r\n`],
  ['a chunked body', `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nffff\r\n`],
])('%s byte by byte: 400 in time, and the connection ends, whatever the client does', async (_what, first) => {
  const ended: string[] = [];
  const server = await serve((req, res) => {
    req.resume();
    res.once('close', () => ended.push(`${req.method}`));
  });
  const { socket, text, gone } = open(server);
  socket.write(first);
  goOn(socket, 'x');
  await eventually(() => expect(gone()).toBe(true));
  expect(text()).toMatch(/^HTTP\/1\.1 400 .*The request did not arrive in time\./s);
  // The handler learns that the client no longer waits.
  expect(ended).toEqual(first.startsWith('POST') ? ['POST'] : []);
});

test('a body that still arrives after the response: the connection ends', async () => {
  const server = await serve((_req, res) => void res.writeHead(404).end('no'));
  const { socket, text, gone } = open(server);
  socket.write(`POST / HTTP/1.1\r\n${host}Content-Length: 1000000\r\n\r\n`);
  goOn(socket, 'x');
  await eventually(() => expect(gone()).toBe(true));
  expect(text()).toMatch(/^HTTP\/1\.1 404 /);
});

/** More than the buffers of both ends hold. */
const large = Buffer.alloc(20_000_000, 'x');

test('a response that the client does not read: the connection is reset, and the handler learns of it', async () => {
  let closed = false;
  const server = await serve((_req, res) => {
    res.once('close', () => (closed = true));
    res.end(large);
  });
  const { socket, gone } = open(server);
  socket.on('readable', () => {}); // Reads only what fits into the socket's buffer.
  socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  await eventually(() => expect(closed).toBe(true));
  goOn(socket, '\r\n');
  await eventually(() => expect(gone()).toBe(true));
});

test('a response that is read byte by byte: the connection is reset', async () => {
  let closed = false;
  const server = await serve((_req, res) => {
    res.once('close', () => (closed = true));
    const write = () => {
      while (res.write(large.subarray(0, 50_000)));
      res.once('drain', write);
    };
    write();
  });
  const { socket } = open(server);
  socket.on('readable', () => {});
  socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  const timer = setInterval(() => socket.read(1), 20);
  undo.push(() => clearInterval(timer));
  await eventually(() => expect(closed).toBe(true));
});

test('a client that reads slowly but steadily gets all of a large response', async () => {
  const server = await serve((_req, res) => {
    let left = large.length;
    const write = () => {
      while (left > 0) {
        left -= 50_000;
        if (!res.write(large.subarray(0, 50_000))) return void res.once('drain', write);
      }
      res.end();
    };
    res.setHeader('content-length', large.length);
    write();
  });
  const { socket } = open(server);
  socket.on('readable', () => {});
  socket.write(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
  let read = 0;
  const started = performance.now();
  for await (const bytes of socket) {
    read += (bytes as Buffer).length;
    await sleep(10);
  }
  expect(performance.now() - started).toBeGreaterThan(2 * clientTimeout);
  expect(read).toBeGreaterThan(large.length);
});

test('a slow handler is waited for, as it is not the client that is slow', async () => {
  const server = await serve(async (_req, res) => {
    res.write('first,');
    await sleep(4 * clientTimeout);
    res.end('second');
  });
  const { socket, text } = open(server);
  socket.write(`GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
  await eventually(() => expect(text()).toContain('second'));
});

test('malformed input after a request is refused after that request’s response, not instead of it', async () => {
  const answer = Promise.withResolvers<void>();
  const server = await serve(async (_req, res) => {
    await answer.promise;
    res.end('answered');
  });
  const { socket, text, gone } = open(server);
  socket.write(`GET / HTTP/1.1\r\n${host}\r\nG@T / HTTP/1.1\r\n\r\n`);
  await sleep(100);
  expect(text()).toBe('');
  answer.resolve();
  await eventually(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*answered.*HTTP\/1\.1 400 /s));
  goOn(socket, 'x');
  await eventually(() => expect(gone()).toBe(true));
  expect(text().match(/HTTP\/1\.1 /g)).toHaveLength(2);
});

test('a body that turns out malformed while its response is being written: the response is cut off', async () => {
  const server = await serve((req, res) => {
    req.resume();
    res.setHeader('content-length', 1000).write('the beginning');
  });
  const { socket, text, gone } = open(server);
  socket.write(`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
  await eventually(() => expect(text()).toContain('the beginning'));
  socket.write('zz\r\n');
  goOn(socket, 'x');
  await eventually(() => expect(gone()).toBe(true));
  expect(text()).not.toContain('400');
});
