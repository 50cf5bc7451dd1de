import { connect, type Socket } from 'node:net';
import { networkOf } from '@attribution/http';
import { eventually, testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { Redis } from 'ioredis';
import { takeSharedSlot } from '../src/shared-slots.ts';
import {
  expectProblem,
  newIp,
  range,
  redisTest,
  startGateway,
  startTcpUpstream,
  startUpstream,
  type TestGateway,
  type Upstream,
} from './support.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream((res, { body }) => void res.writeHead(Number(body) || 200).end());
});
afterAll(() => upstream.stop());

const redisUrl = testServers.redisUrl() ?? '';
const path = '/v2/auth/forgot-password';
const limit = 3;
const post = (gateway: TestGateway, ip: string) => gateway.send(path, { method: 'POST', ip });
const login = (gateway: TestGateway, ip: string, status: number) =>
  gateway.send('/v2/auth/login', { method: 'POST', ip, body: String(status) });

/** Sends requests until one is counted in Redis: then the gateway is connected to it. */
async function waitUntilShared(gateway: TestGateway): Promise<void> {
  await eventually(async () => {
    const before = await gateway.count('rate_limit_fallbacks_total');
    await post(gateway, newIp());
    expect(await gateway.count('rate_limit_fallbacks_total')).toBe(before);
  });
}

/** The timeout for Redis is long, because other tests may keep the machine busy. */
async function connected(url = redisUrl, timeoutMs = 10_000): Promise<TestGateway> {
  const gateway = await startGateway(upstream, { REDIS_URL: url, REDIS_TIMEOUT_MS: String(timeoutMs) });
  await waitUntilShared(gateway);
  return gateway;
}

redisTest(
  'two gateways share each window: of sixty parallel requests to both, as many pass as the limit allows',
  async () => {
    const [one, other] = await Promise.all([connected(), connected()]);
    const ip = newIp();
    const replies = await Promise.all(range(60).map((n) => post(n % 2 === 0 ? one : other, ip)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(limit);
    for (const reply of replies.filter(({ status }) => status !== 200)) expectProblem(reply, 'rate-limited');
    await Promise.all([one.stop(), other.stop()]);
  },
);

redisTest('two gateways share the failures of login', async () => {
  const [one, other] = await Promise.all([connected(), connected()]);
  const ip = newIp();
  for (const n of range(10)) expect((await login(n % 2 === 0 ? one : other, ip, 401)).status).toBe(401);
  for (const gateway of [one, other]) expectProblem(await login(gateway, ip, 200), 'rate-limited');
  await Promise.all([one.stop(), other.stop()]);
});

redisTest('windows outlive the gateway', async () => {
  const ip = newIp();
  const before = await connected();
  for (const _ of range(limit)) await post(before, ip);
  await before.stop();
  const after = await connected();
  expectProblem(await post(after, ip), 'rate-limited');
  await after.stop();
});

redisTest('of fifty parallel wrong logins, counted in Redis, ten reach the service', async () => {
  const gateway = await connected();
  const ip = newIp();
  const replies = await Promise.all(range(50).map(() => login(gateway, ip, 401)));
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
  await gateway.stop();
});

const statusesOf = async (attempts: Promise<{ status: number }>[]) =>
  (await Promise.all(attempts)).map((one) => one.status);
const counts = (statuses: number[]) =>
  Object.fromEntries([...new Set(statuses)].map((one) => [one, statuses.filter((status) => status === one).length]));

redisTest(
  'of a hundred parallel wrong logins to two gateways ten reach the service, and ninety are refused',
  async () => {
    const [one, other] = await Promise.all([connected(), connected()]);
    const ip = newIp();
    const before = upstream.started.length;
    const statuses = await statusesOf(range(100).map((n) => login(n % 2 === 0 ? one : other, ip, 401)));
    expect(counts(statuses)).toEqual({ 401: 10, 429: 90 });
    expect(upstream.started).toHaveLength(before + 10);
    await Promise.all([one.stop(), other.stop()]);
  },
);

redisTest('parallel right logins to two gateways pass, even after nine failures', async () => {
  const [one, other] = await Promise.all([connected(), connected()]);
  const ip = newIp();
  for (const _ of range(9)) await login(one, ip, 401);
  const statuses = await statusesOf(range(40).map((n) => login(n % 2 === 0 ? one : other, ip, 200)));
  expect(counts(statuses)).toEqual({ 200: 40 });
  await Promise.all([one.stop(), other.stop()]);
});

redisTest('of parallel wrong and right logins to two gateways ten fail, and then all are refused', async () => {
  const [one, other] = await Promise.all([connected(), connected()]);
  const ip = newIp();
  const statuses = await statusesOf(range(80).map((n) => login(n % 2 === 0 ? one : other, ip, n % 4 < 2 ? 401 : 200)));
  expect(counts(statuses)[401]).toBe(10);
  for (const gateway of [one, other]) expectProblem(await login(gateway, ip, 200), 'rate-limited');
  await Promise.all([one.stop(), other.stop()]);
});

/** The keys in Redis for a client's logins. */
const keysOf = (ip: string) => {
  const window = `rate:login:${networkOf(ip)}`;
  return { window, slots: `${window}:slots` };
};

async function withRedis(work: (redis: Redis) => Promise<void>): Promise<void> {
  const redis = new Redis(redisUrl);
  await work(redis).finally(() => redis.disconnect());
}

redisTest('a right login neither opens a window nor extends one', () =>
  withRedis(async (redis) => {
    const gateway = await connected();
    const ip = newIp();
    const { window, slots } = keysOf(ip);
    await login(gateway, ip, 200);
    expect(await redis.exists(window)).toBe(0);
    await login(gateway, ip, 401);
    await redis.pexpire(window, 100_000);
    await login(gateway, ip, 200);
    expect(await redis.get(window)).toBe('1');
    expect(await redis.pttl(window)).toBeLessThanOrEqual(100_000);
    await eventually(async () => expect(await redis.exists(slots)).toBe(0));
    await gateway.stop();
  }),
);

redisTest('an attempt waits for slots that other gateways hold, and slots that are not renewed become free', () =>
  withRedis(async (redis) => {
    const gateway = await connected();
    const ip = newIp();
    const { slots } = keysOf(ip);
    const elsewhere = range(10).map((n) => `of a gateway that has ended ${n}`);
    const [seconds] = await redis.time();
    for (const slot of elsewhere) await redis.zadd(slots, (Number(seconds) + 60) * 1_000, slot);
    let answered = false;
    const attempt = login(gateway, ip, 200).finally(() => (answered = true));
    expect((await login(gateway, newIp(), 200)).status).toBe(200);
    expect(answered).toBe(false);
    for (const slot of elsewhere) await redis.zadd(slots, Number(seconds) * 1_000, slot); // Now they have expired.
    expect((await attempt).status).toBe(200);
    await gateway.stop();
  }),
);

redisTest('a slot that is not renewed expires within ten seconds, and release frees it immediately', () =>
  withRedis(async (redis) => {
    const { window, slots } = keysOf(newIp());
    const breaker = { attempt: <T>(work: () => Promise<T>) => work(), stop() {} };
    const slot = await takeSharedSlot({ redis, breaker }, window, 1);
    expect(await takeSharedSlot({ redis, breaker }, window, 1)).toBeUndefined();
    const [, end] = await redis.zrange(slots, '0', '-1', 'WITHSCORES');
    const [seconds] = await redis.time();
    expect(Number(end)).toBeLessThanOrEqual((Number(seconds) + 1) * 1_000 + 10_000);
    expect(await redis.pttl(slots)).toBeLessThanOrEqual(10_000);
    await slot?.release();
    expect(await redis.exists(slots)).toBe(0);
  }),
);

/** A proxy between the gateway and Redis that can hold all data back. */
async function startRedisProxy() {
  let held = false;
  const pairs = new Set<Socket>();
  const proxy = await startTcpUpstream((near) => {
    const { hostname, port } = new URL(redisUrl);
    const far = connect(Number(port), hostname).on('error', () => {});
    near.on('data', (bytes) => void (held || far.write(bytes))).on('close', () => far.destroy());
    far.on('data', (bytes) => void (held || near.write(bytes))).on('close', () => near.destroy());
    pairs.add(near);
  });
  return {
    url: proxy.url.replace('http:', 'redis:'),
    stop: () => proxy.stop(),
    hold: () => void (held = true),
    resume() {
      held = false;
      for (const socket of pairs) socket.destroy();
    },
  };
}

redisTest(
  'when Redis stops responding, windows continue in-process immediately, and are shared again when it is back',
  async () => {
    const proxy = await startRedisProxy();
    const gateway = await connected(proxy.url, 40);
    const ip = newIp();
    for (const _ of range(limit)) expect((await post(gateway, ip)).status).toBe(200);
    expectProblem(await post(gateway, ip), 'rate-limited');
    const before = await gateway.count('rate_limit_fallbacks_total');
    proxy.hold();
    expectProblem(await post(gateway, ip), 'rate-limited'); // Its window has not started over.
    const fresh = newIp();
    for (const _ of range(limit)) expect((await post(gateway, fresh)).status).toBe(200);
    expectProblem(await post(gateway, fresh), 'rate-limited');
    expect(await gateway.count('rate_limit_fallbacks_total')).toBe(before + limit + 2);
    const other = newIp();
    for (const _ of range(10)) expect((await login(gateway, other, 401)).status).toBe(401);
    expectProblem(await login(gateway, other, 200), 'rate-limited');
    proxy.resume();
    await waitUntilShared(gateway);
    expectProblem(await post(gateway, ip), 'rate-limited');
    await gateway.stop();
    await proxy.stop();
  },
);
