import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  expectProblem,
  newIp,
  range,
  startGateway,
  startUpstream,
  type TestGateway,
  type Upstream,
} from './support.ts';

let upstream: Upstream;
let trusting: TestGateway;
let trustingNone: TestGateway;
let behindTwo: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  trusting = await startGateway(upstream);
  trustingNone = await startGateway(upstream, { TRUSTED_PROXIES: '192.0.2.1' });
  behindTwo = await startGateway(upstream, { TRUSTED_PROXIES: 'loopback, 10.0.0.0/8, fd00::/8' });
});
afterAll(async () => {
  for (const gateway of [trusting, trustingNone, behindTwo]) await gateway.stop();
  await upstream.stop();
});

const path = '/v2/auth/forgot-password';
const limit = 3;

const post = (gateway: TestGateway, forwarded?: string | string[]) =>
  gateway.send(path, { method: 'POST', headers: { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) } });

/** Exhausts the window of one address, then checks whether the other counts as the same client. */
async function sameClient(gateway: TestGateway, one: string | string[], other: string | string[]): Promise<boolean> {
  for (const _ of range(limit)) expect((await post(gateway, one)).status).toBe(200);
  expectProblem(await post(gateway, one), 'rate-limited');
  return (await post(gateway, other)).status === 429;
}

test('the addresses of one IPv6 /64 are one client, those of the next are another', async () => {
  const [a, b] = ['2001:db8:1:1', '2001:db8:1:2'];
  expect(await sameClient(trusting, `${a}::1`, `${a}:ffff:ffff:ffff:ffff`)).toBe(true);
  expect((await post(trusting, `${b}::1`)).status).toBe(200);
});

test('an IPv6 address is one client in every spelling', async () => {
  expect(await sameClient(trusting, '2001:db8:2:0::1', '2001:0DB8:0002:0000:0000:0000:0000:0001')).toBe(true);
});

test('an IPv4 address and its IPv4-mapped form are one client; the next address is another', async () => {
  expect(await sameClient(trusting, '198.51.100.7', '::ffff:198.51.100.7')).toBe(true);
  expect((await post(trusting, '::ffff:c633:6407')).status).toBe(429);
  expect((await post(trusting, '198.51.100.8')).status).toBe(200);
  expect((await post(trusting, '::ffff:198.51.100.9')).status).toBe(200);
});

test('X-Forwarded-For of a peer that is not a trusted proxy is ignored', async () => {
  for (const n of range(limit)) expect((await post(trustingNone, `198.51.100.${20 + n}`)).status).toBe(200);
  expectProblem(await post(trustingNone, '198.51.100.30'), 'rate-limited');
  expectProblem(await post(trustingNone), 'rate-limited');
  expect(upstream.seen.at(-1)?.headers['x-forwarded-for']).toBe('127.0.0.1');
});

test('the right-most address that is not a trusted proxy is the client; entries left of it, which a client may forge, are ignored', async () => {
  const client = '203.0.113.5';
  for (const n of range(limit))
    expect((await post(behindTwo, `198.51.100.${40 + n}, ${client}, 10.1.2.3`)).status).toBe(200);
  expect(upstream.seen.at(-1)?.headers['x-forwarded-for']).toBe(client);
  expectProblem(await post(behindTwo, `198.51.100.50, ${client}, 10.1.2.3`), 'rate-limited');
  expectProblem(await post(behindTwo, `127.0.0.1, 10.9.9.9, ${client}`), 'rate-limited');
  expectProblem(await post(behindTwo, `garbage, <>, ${client}, fd00::1`), 'rate-limited');
  expectProblem(await post(behindTwo, client), 'rate-limited');
  expect((await post(behindTwo, `${client}, 203.0.113.6`)).status).toBe(200);
});

test('X-Forwarded-For sent as several lines is one list', async () => {
  const spoofed = newIp();
  expect(await sameClient(behindTwo, [spoofed, '203.0.113.60'], [newIp(), '203.0.113.60', '10.0.0.1'])).toBe(true);
});

test('where all addresses are trusted proxies, the left-most is the client', async () => {
  expect(await sameClient(behindTwo, '10.5.5.5, 10.6.6.6', '10.5.5.5')).toBe(true);
  expect((await post(behindTwo, '10.6.6.6')).status).toBe(200);
});

test.each([
  ['garbage', 'garbage'],
  ['nothing', ''],
  ['commas', ' , ,'],
  ['unknown', 'unknown'],
  ['an address with a port', '203.0.113.70:4711'],
  ['an address out of range', '300.1.1.1'],
  ['a network', '203.0.113.0/24'],
  ['a very long text', 'x'.repeat(4_000)],
  ['a name inherited by every object', '__proto__'],
  ['garbage right of an address', '203.0.113.71, garbage'],
])('an X-Forwarded-For of %s names no client: the proxy is counted instead', async (_what, forwarded) => {
  const gateway = await startGateway(upstream);
  try {
    expect(await sameClient(gateway, forwarded, '127.0.0.1')).toBe(true);
    expect(upstream.seen.at(-1)?.headers['x-forwarded-for']).toBe('127.0.0.1');
  } finally {
    await gateway.stop();
  }
});

test.each([
  'x-real-ip',
  'forwarded',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-forwarded',
  'x-cluster-client-ip',
])('the header %s does not change who the client is', async (name) => {
  const ip = newIp();
  const from = (value: string) => trusting.send(path, { method: 'POST', ip, headers: { [name]: value } });
  for (const n of range(limit)) expect((await from(`198.51.100.${80 + n}`)).status).toBe(200);
  expectProblem(await from('198.51.100.90'), 'rate-limited');
});
