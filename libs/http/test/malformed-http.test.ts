import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { problemBase } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { listen, type RunningServer, securityHeaders } from '../src/index.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await listen((req, res) => void res.end(`${req.method} ${req.url}`), {
    host: '127.0.0.1',
    port: 0,
    problemBase,
  });
});
afterAll(() => server.close(Date.now() + 2_000));

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Everything that the server sends for these bytes until it ends the connection. The client's side stays open. */
async function exchange(bytes: string, { port } = server): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.on('error', () => {}); // The connection may be reset while sent bytes are unread.
  socket.write(bytes);
  await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  return text;
}

function read(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [status, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
  return { status, headers, length: Buffer.byteLength(body), problem: JSON.parse(body) as object };
}

const host = 'Host: a\r\n';

test.each([
  ['no HTTP at all', 'HELLO\r\n\r\n', 'This is not a valid HTTP request.'],
  ['the beginning of a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00', 'This is not a valid HTTP request.'],
  ['a space in a header’s name', `GET / HTTP/1.1\r\n${host}Bad Name: x\r\n\r\n`, 'This is not a valid HTTP request.'],
  ['a NUL in a header', `GET / HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`, 'This is not a valid HTTP request.'],
  ['a folded header', `GET / HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`, 'This is not a valid HTTP request.'],
  [
    'two lengths',
    `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\na`,
    'This is not a valid HTTP request.',
  ],
  [
    'a length and chunks',
    `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'This is not a valid HTTP request.',
  ],
  ['an invalid length', `POST / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`, 'This is not a valid HTTP request.'],
  ['an unknown version', `GET / HTTP/9.9\r\n${host}\r\n`, 'This is not a valid HTTP request.'],
  [
    'headers beyond 16 KiB',
    `GET / HTTP/1.1\r\n${host}X: ${'a'.repeat(17_000)}\r\n\r\n`,
    'The headers are larger than 16 KiB.',
  ],
])('400: %s gets a problem, and the connection ends', async (_what, bytes, detail) => {
  const { status, headers, length, problem } = read(await exchange(bytes));
  expect(status).toBe('HTTP/1.1 400 Bad Request');
  expect(headers).toMatchObject({
    'content-type': 'application/problem+json',
    connection: 'close',
    'content-length': String(length),
    'cache-control': 'no-store',
    ...securityHeaders,
  });
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(problem).toEqual({
    type: `${problemBase}/validation-error`,
    title: 'The request is not valid',
    status: 400,
    detail,
  });
});

test('404: a tunnel is refused like any unknown path, and the connection ends', async () => {
  const { status, headers, problem } = read(
    await exchange('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'),
  );
  expect(status).toBe('HTTP/1.1 404 Not Found');
  expect(headers).toMatchObject({ 'content-type': 'application/problem+json', connection: 'close' });
  expect(problem).toMatchObject({ type: `${problemBase}/not-found`, status: 404 });
});

test('an unsupported upgrade is ignored, and the request gets its response', async () => {
  const text = await exchange(`GET /up HTTP/1.1\r\n${host}Connection: upgrade, close\r\nUpgrade: websocket\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*GET \/up$/s);
});

test('a request for another protocol ends the connection, so the client knows that later requests had no effect', async () => {
  const upgrade = `GET /up HTTP/1.1\r\n${host}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`;
  const text = await exchange(`${upgrade}GET /behind HTTP/1.1\r\n${host}\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close.*GET \/up$/is);
});

test('requests after a response that ends the connection are not handled', async () => {
  const done: (string | undefined)[] = [];
  const ending = await listen(
    (req, res) => {
      done.push(req.url);
      if (req.url === '/last') res.setHeader('connection', 'close');
      setTimeout(() => res.end(req.url), 20);
    },
    { host: '127.0.0.1', port: 0, problemBase },
  );
  const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
  const text = await exchange(get('/first') + get('/last') + get('/behind'), ending);
  expect(text).toMatch(/\/first.*\/last$/s);
  expect(done).toEqual(['/first', '/last']);
  await ending.close(Date.now() + 1_000);
});

test.each(['100-continue', 'something-else'])(
  'the expectation %s does not keep a request from its response',
  async (expectation) => {
    const text = await exchange(
      `POST /e HTTP/1.1\r\n${host}Connection: close\r\nExpect: ${expectation}\r\nContent-Length: 1\r\n\r\na`,
    );
    expect(text).toMatch(/HTTP\/1\.1 200 OK\r\n.*POST \/e$/s);
    expect(text).not.toContain('417');
  },
);

test.each([
  ['a refusal', `GET / HTTP/1.1\r\n${host}Bad Name: x\r\n`, '400 Bad Request'],
  ['the last response', `POST / HTTP/1.1\r\n${host}Connection: close\r\nContent-Length: 1000\r\n\r\n`, '200 OK'],
])(
  'a client that still sends after %s is not cut off, because it could lose that response',
  async (_what, head, status) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    sockets.push(socket);
    let text = '';
    const errors: Error[] = [];
    socket.on('data', (bytes) => (text += String(bytes))).on('error', (error) => errors.push(error));
    socket.write(head);
    for (let piece = 0; piece < 10; piece++) {
      await sleep(30);
      socket.write('more');
    }
    expect(text).toContain(`HTTP/1.1 ${status}`);
    expect(errors).toEqual([]);
  },
);

test('malformed input on one connection does not affect the others or the server', async () => {
  await Promise.all(Array.from({ length: 20 }, () => exchange('HELLO\r\n\r\n')));
  const text = await exchange(`GET /still HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
  expect(text).toContain('GET /still');
});

test('connections that clients leave half open do not keep a server from closing', async () => {
  const other = server;
  server = await listen((_req, res) => void res.end(), { host: '127.0.0.1', port: 0, problemBase });
  await exchange('HELLO\r\n\r\n');
  await exchange('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
  await server.close(Date.now() + 1_000);
  server = other;
});
