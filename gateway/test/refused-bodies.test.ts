import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startGateway, startUpstream, type TestGateway } from './support.ts';

const bodyBytes = 200_000;
const sentBytes = 150_000;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let gateway: TestGateway;
let open: Socket[] = [];

beforeAll(async () => {
  upstream = await startUpstream((res) => void res.end('served'));
  gateway = await startGateway(upstream);
});
afterEach(() => {
  for (const socket of open) socket.destroy();
  open = [];
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** Sends most of a body with a token that nobody issued, and reads what comes back. */
async function refused(ip = '10.0.0.1'): Promise<{ socket: Socket; text: () => string }> {
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  open.push(socket);
  let text = '';
  socket.on('data', (bytes) => (text += String(bytes)));
  await once(socket, 'connect');
  socket.write(
    `POST /v2/campaigns HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${ip}\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nContent-Length: ${bodyBytes}\r\n\r\n`,
  );
  socket.write(' '.repeat(sentBytes));
  return { socket, text: () => text };
}

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);

test('of 80 bodies that are refused while they arrive, 64 are read to their end, and the connections of the others are closed', async () => {
  const clients = await Promise.all(Array.from({ length: 80 }, refused));
  await eventually(() => expect(clients.map(({ text }) => statusesOf(text()))).toEqual(clients.map(() => ['401'])));
  const kept = clients.filter(({ text }) => !/^connection: close\r$/im.test(text()));
  expect(kept).toHaveLength(64);
  const closed = clients.filter((one) => !kept.includes(one));
  await eventually(() => expect(closed.filter(({ socket }) => !socket.destroyed)).toEqual([]));

  for (const { socket } of kept)
    socket.write(`${' '.repeat(bodyBytes - sentBytes)}GET /v2/campaigns HTTP/1.1\r\nHost: a\r\n\r\n`);
  await eventually(() => expect(kept.map(({ text }) => statusesOf(text()))).toEqual(kept.map(() => ['401', '401'])));
});

test('while one client has 80 refused bodies that stall, the bodies of another are read', async () => {
  const [own, other] = ['10.0.0.1', '10.0.0.2'];
  const stalled = await Promise.all(Array.from({ length: 80 }, () => refused(own)));
  await eventually(() => expect(stalled.map(({ text }) => statusesOf(text()))).toEqual(stalled.map(() => ['401'])));
  const others = await Promise.all(Array.from({ length: 20 }, () => refused(other)));
  for (const { socket } of others)
    socket.write(`${' '.repeat(bodyBytes - sentBytes)}GET /v2/campaigns HTTP/1.1\r\nHost: a\r\n\r\n`);
  await eventually(() =>
    expect(others.map(({ text }) => statusesOf(text()))).toEqual(others.map(() => ['401', '401'])),
  );
});

test('bodies that are refused one after the other leave every connection usable', async () => {
  for (let n = 0; n < 70; n++) {
    const { socket, text } = await refused();
    socket.write(`${' '.repeat(bodyBytes - sentBytes)}GET /v2/campaigns HTTP/1.1\r\nHost: a\r\n\r\n`);
    await eventually(() => expect(statusesOf(text())).toEqual(['401', '401']));
  }
});
