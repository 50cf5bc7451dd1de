import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { createTestAuthority, eventually, selfSigned } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostileRequests } from './hostile-http.ts';
import { captureHello, hostileBytes, mutatedHellos } from './hostile-tls.ts';
import {
  authority,
  type DeviceService,
  newDevice,
  ofDevice,
  startDeviceService,
  startIngress,
  type TestIngress,
} from './ingress-support.ts';
import { range } from './support.ts';

const patience = { handshakeTimeoutMs: 500, environment: { CLIENT_TIMEOUT_MS: '1000' } };
let device: DeviceService;
let ingress: TestIngress;
let identity: ReturnType<typeof newDevice>['identity'];
beforeAll(async () => {
  device = await startDeviceService();
  ingress = await startIngress(device, patience);
  ({ identity } = newDevice(device));
});
afterAll(async () => {
  await ingress.stop();
  await device.stop();
});

/** TCP sockets that this process has open. */
const openSockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

/** Resolves with what a socket receives until it is closed, however that comes. A client whose connection is kept ends it. */
async function receivedBy(socket: Socket): Promise<string> {
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    if (text.includes('\r\n\r\n') && !/\r\nconnection: close/i.test(text)) socket.end();
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

/** Sends bytes over TCP. `half`: says that no more come, and waits for the other side. */
function overTcp(bytes: Buffer, half = false): Promise<string> {
  const socket = connectTcp({ host: '127.0.0.1', port: ingress.port, allowHalfOpen: true });
  socket.once('end', () => socket.end());
  if (half) socket.end(bytes);
  else socket.write(bytes);
  return receivedBy(socket);
}

const tlsTo = (options: ConnectionOptions = {}) =>
  connect({ host: '127.0.0.1', port: ingress.port, ca: authority.root, rejectUnauthorized: false, ...options });

function overTls(text: string, options: ConnectionOptions = { ...identity }, half = false): Promise<string> {
  const socket = tlsTo(options);
  if (half) socket.end(text, 'latin1');
  else socket.write(text, 'latin1');
  return receivedBy(socket);
}

const closing = `POST ${ofDevice} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`;
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** Carries out all cases at once: none is answered by a 5xx, all connections end, and the next good request is served. */
async function expectUnharmed(cases: Readonly<Record<string, () => Promise<string>>>) {
  await eventually(async () => expect((await ingress.send(ofDevice, { method: 'POST', identity })).status).toBe(200));
  const before = openSockets();
  const answers = await Promise.all(Object.entries(cases).map(async ([what, run]) => [what, await run()] as const));
  for (const [what, text] of answers)
    expect([what, statusesIn(text).filter((status) => status >= 500)]).toEqual([what, []]);
  await eventually(() => expect(openSockets()).toBeLessThanOrEqual(before));
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    expect(statusesIn(await overTls(closing, { ...identity, minVersion: version, maxVersion: version }))).toEqual([
      200,
    ]);
  expect(ingress.logs.text()).not.toMatch(/"level":"?(50|60|error|fatal)/);
  return new Map(answers);
}

const casesOf = <T>(all: Readonly<Record<string, T>>, run: (one: T, n: number) => Promise<string>) =>
  Object.fromEntries(Object.entries(all).map(([what, one], n) => [what, () => run(one, n)]));

test('of 200 broken, cut and random handshakes none gets a response, and each ends its connection alone', async () => {
  const hello = await captureHello();
  const bytes = { ...hostileBytes(hello), ...mutatedHellos(hello, 130) };
  expect(Object.keys(bytes).length).toBeGreaterThanOrEqual(200);
  const answers = await expectUnharmed(casesOf(bytes, (one, n) => overTcp(one, n % 3 === 0)));
  for (const [what, text] of answers) expect([what, statusesIn(text)]).toEqual([what, []]);
});

test('of 50 requests over TLS that are none each is refused or cut off, whether the client then ends or waits', async () => {
  expect(Object.keys(hostileRequests).length).toBeGreaterThanOrEqual(50);
  const reached = device.seen.length;
  const waiting = casesOf(hostileRequests, (text) => overTls(text));
  const ended = casesOf(hostileRequests, (text) => overTls(text, { ...identity }, true));
  await expectUnharmed({
    ...waiting,
    ...Object.fromEntries(Object.entries(ended).map(([what, run]) => [`${what}, and the end`, run])),
  });
  expect(device.seen.slice(reached).filter(({ url }) => url !== ofDevice && !url.startsWith('/internal/'))).toEqual([]);
});

/** Passes a connection on, with one octet of what the client sends behind its hello changed. */
async function throughRelay(place: number, options: ConnectionOptions): Promise<string> {
  const relay = createServer((client) => {
    const server = connectTcp(ingress.port, '127.0.0.1');
    let passed = -1;
    client.on('data', (bytes: Buffer) => {
      if (passed >= 0 && place >= passed && place < passed + bytes.length)
        bytes[place - passed] = (bytes[place - passed] ?? 0) ^ 0x55;
      passed = passed < 0 ? 0 : passed + bytes.length;
      server.write(bytes);
    });
    server.on('data', (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const)
      one.on('error', () => {}).once('close', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  try {
    return await overTls(closing, { ...options, port: (relay.address() as AddressInfo).port });
  } finally {
    relay.close();
  }
}

test('a handshake, a certificate or a request that is changed on its way by one octet goes no further', async () => {
  const versions = ['TLSv1.2', 'TLSv1.3'] as const;
  const places = range(40).map((n) => n * n + n);
  const send = (version: (typeof versions)[number], place: number) =>
    throughRelay(place, { ...identity, minVersion: version, maxVersion: version });
  for (const version of versions) expect(statusesIn(await send(version, Number.POSITIVE_INFINITY))).toEqual([200]);
  const cases = versions.flatMap((version) =>
    places.map((place) => [`octet ${place}, ${version}`, () => send(version, place)] as const),
  );
  const answers = await expectUnharmed(Object.fromEntries(cases));
  for (const [what, text] of answers) expect([what, statusesIn(text)]).toEqual([what, []]);
});

test('certificates of any size and form, old versions and a renegotiation: 401, or no connection', async () => {
  const chained = (times: number) => ({
    ...identity,
    cert: identity.cert + authority.authority.certificate.repeat(times),
  });
  const long = 'x'.repeat(20_000);
  const shown: Record<string, ConnectionOptions> = {
    'a certificate of 40 KB': authority.issue({ deviceId: long }),
    'a certificate of 120 KB that signed itself': selfSigned({ deviceId: long.repeat(3) }),
    'a name with a NUL': authority.issue({ deviceId: 'dev_1\0dev_2' }),
    'a name that is empty': authority.issue({ deviceId: '' }),
    'an authority two hundred times behind the certificate': chained(200),
    'a certificate of servers': authority.issueServer(),
    'another authority of the same name': createTestAuthority().issue(),
    'a name of the server of 250 letters': { ...authority.issue(), servername: `${'a'.repeat(60)}.`.repeat(4) },
    'another protocol': { ...identity, ALPNProtocols: ['h2', 'spdy/3'] },
    'a protocol of 255 octets': { ...identity, ALPNProtocols: ['x'.repeat(255)] },
    'versions that are over': { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    'ciphers without encryption': { ...identity, maxVersion: 'TLSv1.2', ciphers: 'NULL@SECLEVEL=0' },
    'ciphers without authentication': { ...identity, maxVersion: 'TLSv1.2', ciphers: 'aNULL@SECLEVEL=0' },
  };
  const cases = casesOf(shown, (options) => overTls(closing, options));
  const answers = await expectUnharmed({
    ...cases,
    async 'a renegotiation'() {
      const socket = tlsTo({ ...identity, maxVersion: 'TLSv1.2' });
      await once(socket, 'secureConnect');
      socket.renegotiate({}, (error) => error && socket.destroy());
      return receivedBy(socket);
    },
  });
  for (const [what, text] of answers)
    expect([what, statusesIn(text).filter((status) => status !== 401)]).toEqual([what, []]);
});
