import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { createTestAuthority, eventually, problemBase, selfSigned } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ListenOptions, listen, type RunningServer } from '../src/index.ts';

const authority = createTestAuthority();
const identity = authority.issueServer();
const versions = ['TLSv1.2', 'TLSv1.3'] as const;
const megabyte = 'x'.repeat(1024 * 1024);
let failedHandshakes = 0;
/** Responses that were not sent completely. */
let cutOff = 0;

/** Says what TLS thinks of the client; `/much` responds with more than any buffer holds. */
function answer({ url, socket }: IncomingMessage, res: ServerResponse): void {
  const { authorized } = socket as TLSSocket;
  const shown = (socket as TLSSocket).getPeerX509Certificate() !== undefined;
  const resumed = (socket as TLSSocket).isSessionReused();
  if (url !== '/much') return void res.end(JSON.stringify({ authorized, shown, resumed }));
  res.once('close', () => res.writableFinished || cutOff++);
  for (let i = 0; i < 16; i++) res.write(megabyte);
  res.end();
}

const start = (options: Partial<ListenOptions> = {}, handshakeTimeoutMs = 10_000) =>
  listen(answer, {
    ...{ host: '127.0.0.1', port: 0, problemBase, ...options },
    tls: {
      ...identity,
      clientAuthorities: [authority.root],
      handshakeTimeoutMs,
      onFailedHandshake: () => failedHandshakes++,
    },
  });

let server: RunningServer;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.close(0));

const to = ({ port }: RunningServer, more: ConnectionOptions = {}): ConnectionOptions => ({
  ...{ host: '127.0.0.1', port, ca: authority.root, ...more },
});

/** Sends bytes over TLS and resolves with what came back until the connection closed, and with the session. */
function exchange(options: ConnectionOptions, text = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n') {
  return new Promise<{ head: string; body: string; session: Buffer | undefined }>((resolve, reject) => {
    const socket = connect(options);
    let received = '';
    let session: Buffer | undefined;
    socket.on('session', (given) => (session = given));
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n');
      resolve({ head, body, session });
    });
    socket.write(text);
  });
}

/** Sends bytes over TCP and resolves with what came back until the connection closed. */
async function exchangeTcp({ port }: RunningServer, bytes: Buffer | string): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.on('close', resolve));
  return received;
}

const day = 86_400_000;
const clients = {
  'a certificate of the authority': [authority.issue(), { authorized: true, shown: true }],
  'no certificate': [{}, { authorized: false, shown: false }],
  'one that has expired': [
    authority.issue({ issuedAt: new Date(Date.now() - 31 * day) }),
    { authorized: false, shown: true },
  ],
  'one that is not valid yet': [
    authority.issue({ issuedAt: new Date(Date.now() + day) }),
    { authorized: false, shown: true },
  ],
  'one of another authority': [createTestAuthority().issue(), { authorized: false, shown: true }],
  'one for servers': [authority.issueServer(), { authorized: false, shown: true }],
  'one that signed itself': [selfSigned(), { authorized: false, shown: true }],
} as const;

test.each(Object.entries(clients))(
  'a client with %s is judged alike at a new and at a resumed connection',
  async (...given) => {
    const [certificate, judged] = given[1];
    for (const version of versions) {
      const options = to(server, { ...certificate, minVersion: version, maxVersion: version });
      const first = await exchange(options);
      expect(JSON.parse(first.body)).toEqual({ ...judged, resumed: false });
      const again = await exchange({ ...options, session: first.session as Buffer });
      expect(JSON.parse(again.body)).toEqual({ ...judged, resumed: true });
    }
  },
);

test('TLS 1.1, a protocol that is not HTTP/1.1, and a renegotiation are refused', async () => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  await expect(exchange(to(server, old))).rejects.toThrow(/protocol version/);
  await expect(exchange(to(server, { ALPNProtocols: ['h2'] }))).rejects.toThrow(/no application protocol/);
  const socket = connect(to(server, { maxVersion: 'TLSv1.2' }));
  await once(socket, 'secureConnect');
  const refused = new Promise((resolve) => socket.on('error', resolve));
  socket.renegotiate({}, (error) => error && socket.destroy(error));
  expect(await refused).toMatchObject({ message: expect.stringMatching(/renegotiation/) });
});

const hello = Buffer.from('1603010200010001fc0303', 'hex');

test.each([
  ['plain HTTP', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['noise', Buffer.from('ff00133742deadbeef00ff', 'hex')],
  ['a record of a length that TLS does not allow', Buffer.from('160301ffff0100', 'hex')],
  ['a handshake of no known kind', Buffer.from('1603010004ff000000', 'hex')],
  ['a hello that contradicts its length', Buffer.concat([hello, Buffer.alloc(506, 0xff)])],
  ['an alert', Buffer.from('15030100020228', 'hex')],
  ['data before the handshake', Buffer.from('170303000548656c6c6f', 'hex')],
])('%s ends its connection alone', async (_what, bytes) => {
  const failed = failedHandshakes;
  expect(await exchangeTcp(server, bytes)).not.toMatch(/HTTP/);
  expect(failedHandshakes).toBe(failed + 1);
  expect((await exchange(to(server))).head).toMatch(/^HTTP\/1.1 200/);
});

test('a handshake that does not go on is ended, and so is a connection that brings no request or never reads', async () => {
  const impatient = await start({ clientTimeout: 1_000 }, 500);
  const silent = exchangeTcp(impatient, '');
  const halfway = exchangeTcp(impatient, hello);
  const idle = exchange(to(impatient), '');
  const deaf = connect(to(impatient));
  deaf.on('error', () => {});
  deaf.write('GET /much HTTP/1.1\r\nHost: a\r\n\r\n');
  deaf.pause();
  expect(await Promise.all([silent, halfway])).toEqual(['', '']);
  expect(await idle).toMatchObject({ body: expect.stringContaining('did not arrive in time') });
  await eventually(() => expect(cutOff).toBe(1));
  deaf.destroy();
  await impatient.close(0);
});

test('oversized headers are refused with a problem', async () => {
  const { head, body } = await exchange(to(server), `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  expect(head).toMatch(/^HTTP\/1.1 400 /);
  expect(JSON.parse(body)).toMatchObject({ detail: 'The headers are larger than 16 KiB.' });
});

test('connections beyond the cap of a client are reset before the handshake, and the next is served', async () => {
  let refused = 0;
  const cap = { limit: 2, clientOf: (address: string) => address, onRefused: () => refused++ };
  const capped = await start({ connectionCap: cap });
  const open = [1, 2].map(() => connectTcp(capped.port, '127.0.0.1'));
  await Promise.all(open.map((socket) => once(socket, 'connect')));
  await expect(exchange(to(capped))).rejects.toMatchObject({ code: 'ECONNRESET' });
  for (const socket of open) socket.destroy();
  await eventually(async () => expect((await exchange(to(capped))).head).toMatch(/^HTTP\/1.1 200/));
  expect(refused).toBeGreaterThanOrEqual(1);
  await capped.close(0);
});

test('a close loses none of the requests of 10 clients on kept connections, and does not wait for half a handshake', async () => {
  const closing = await start();
  const half = connectTcp(closing.port, '127.0.0.1').on('error', () => {});
  await once(half, 'connect');
  let [sent, answered] = [0, 0];
  const sending = Array.from({ length: 10 }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.root });
    for (let ends = false; !ends; ) {
      sent++;
      const req = request({ host: '127.0.0.1', port: closing.port, agent });
      req.end();
      const [res] = (await once(req, 'response')) as [IncomingMessage];
      res.resume();
      await once(res, 'end');
      answered++;
      ends = res.headers.connection === 'close';
    }
    agent.destroy();
  });
  await eventually(() => expect(answered).toBeGreaterThan(50));
  await Promise.all([closing.close(Date.now() + 10_000), ...sending]);
  expect(answered).toBe(sent);
});
