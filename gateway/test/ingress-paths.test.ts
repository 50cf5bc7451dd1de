import { deviceEndpoints } from '@attribution/contracts';
import { selfSigned, testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type DeviceService,
  keptBy,
  newDevice,
  ofDevice,
  startDeviceService,
  startIngress,
  type TestIngress,
} from './ingress-support.ts';
import { expectProblem, range, redisTest, startGateway } from './support.ts';

const challenges = '/v2/device/challenges';
const bootstrap = '/v2/device/bootstrap';
let device: DeviceService;
let ingress: TestIngress;
beforeAll(async () => {
  device = await startDeviceService();
  ingress = await startIngress(device);
});
afterAll(async () => {
  await ingress.stop();
  await device.stop();
});

const signed = (ip?: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-device-signature': 'AAAA' },
  body: '{"serial":"A-1"}',
  ...(ip && { ip }),
});

test.each([
  ['a public path', 'GET', '/v2/campaigns'],
  ['a public path that needs no token', 'POST', '/v2/auth/login'],
  ['a path for people about devices', 'GET', '/v2/devices'],
  ['an Internal path', 'GET', `/internal/v2/device-certificates/${'a'.repeat(64)}`],
  ['an unknown path', 'GET', '/v2/device/nothing'],
  ['the wrong method', 'GET', ofDevice],
  ['a trailing slash', 'POST', `${ofDevice}/`],
  ['upper case', 'POST', '/v2/Device/heartbeat'],
  ['an escape', 'POST', '/v2/device/heartbea%74'],
  ['a double slash', 'POST', '//v2/device/heartbeat'],
  ['dots', 'POST', '/v2/device/x/../heartbeat'],
  ['health', 'GET', '/healthz'],
  ['readiness', 'GET', '/readyz'],
  ['metrics', 'GET', '/metrics'],
  ['the reference page', 'GET', '/docs/'],
  ['the root', 'GET', '/'],
  ['a preflight', 'OPTIONS', ofDevice],
])(
  '404, one same body, for %s, with and without a certificate, and no service hears of it',
  async (_what, method, path) => {
    const reached = device.started.length;
    const { identity } = newDevice(device);
    const known = await ingress.send(path, { method, identity });
    const unknown = await ingress.send(path, { method });
    const nothing = await ingress.send('/nothing');
    for (const reply of [known, unknown]) {
      expectProblem(reply, 'not-found');
      expect(reply.body.toString()).toBe(nothing.body.toString());
    }
    expect(device.started).toHaveLength(reached);
  },
);

test('the gateway knows none of the paths of devices', async () => {
  const gateway = await startGateway(device);
  for (const { method, path } of deviceEndpoints)
    expectProblem(await gateway.send(path.replaceAll(/\{.*?\}/g, 'x'), { method }), 'not-found');
  expect(deviceEndpoints.length).toBeGreaterThan(0);
  await gateway.stop();
});

test('first contact needs no certificate, is not judged by one, and its bytes and signature travel unchanged', async () => {
  for (const identity of [undefined, selfSigned(), newDevice(device).identity]) {
    const asked = device.asked();
    const body = '{ "serial":"A-1" ,"ß":1}';
    expect((await ingress.send(bootstrap, { ...signed(), body, identity })).status).toBe(200);
    const seen = device.seen.at(-1);
    expect(seen?.body.toString()).toBe(body);
    expect(seen?.headers['x-device-signature']).toBe('AAAA');
    expect(seen?.headers.authorization).toBeUndefined();
    expect(device.asked()).toBe(asked);
  }
});

test('400 for a body of first contact over 16 KiB, before the Device service hears of it', async () => {
  const reached = device.started.length;
  const body = JSON.stringify({ serial: 'A-1', filler: 'x'.repeat(16 * 1024) });
  expectProblem(await ingress.send(challenges, { ...signed('127.9.0.1'), body }), 'validation-error', /16384 bytes/);
  expect(device.started).toHaveLength(reached);
});

test('429 from the 301st request of a minute on, for each address and each of the two endpoints by itself', async () => {
  const agent = keptBy(undefined);
  const send = (path: string, ip: string, kept = agent) => ingress.send(path, { ...signed(ip), agent: kept });
  const first = await Promise.all(range(300).map(() => send(challenges, '127.9.0.2')));
  expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await send(challenges, '127.9.0.2');
  expectProblem(refused, 'rate-limited');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(refused.headers['ratelimit-limit']).toBe('300');
  expect((await send(bootstrap, '127.9.0.2')).status).toBe(200);
  expect((await send(challenges, '127.9.0.3', keptBy(undefined))).status).toBe(200);
  // A client that names another address in a header is the same client.
  const headers = { ...signed().headers, 'x-forwarded-for': '203.0.113.9' };
  expectProblem(await ingress.send(challenges, { ...signed('127.9.0.2'), headers, agent }), 'rate-limited');
  agent.destroy();
});

redisTest('two ingresses count together, in Redis', async () => {
  const environment = { REDIS_URL: testServers.redisUrl() ?? '' };
  const both = await Promise.all([1, 2].map(() => startIngress(device, { environment })));
  const ip = `127.8.${process.pid % 250}.${(Date.now() % 250) + 1}`;
  const agents = both.map(() => keptBy(undefined));
  const replies = await Promise.all(
    range(302).map((n) => both[n % 2]?.send(challenges, { ...signed(ip), agent: agents[n % 2] as never })),
  );
  const refused = replies.filter((reply) => reply?.status === 429).length;
  const fallbacks = (await Promise.all(both.map((one) => one.count('rate_limit_fallbacks_total')))).reduce(
    (a, b) => a + b,
  );
  if (fallbacks === 0) expect(refused).toBe(2);
  for (const agent of agents) agent.destroy();
  await Promise.all(both.map((one) => one.stop()));
});

test('502 with Retry-After when the Device service breaks off, and a request id in every response', async () => {
  const broken = await startIngress({ url: 'http://127.0.0.1:1' });
  const reply = await broken.send(challenges, signed());
  expectProblem(reply, 'upstream-error');
  expect(reply.headers['retry-after']).toBe('1');
  expect(reply.headers['x-request-id']).toMatch(/^[\w-]{36}$/);
  await broken.stop();
});
