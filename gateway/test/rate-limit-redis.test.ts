import { connect, type Socket } from 'node:net';
import { eventually, testParts } from '@attribution/testing';
import { afterAll, beforeAll, expect } from '@jest/globals';
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

const redisUrl = testParts.redisUrl() ?? '';
const path = '/v2/auth/forgot-password';
const limit = 3;
const post = (gateway: TestGateway, ip: string) => gateway.send(path, { method: 'POST', ip });
const login = (gateway: TestGateway, ip: string, status: number) =>
  gateway.send('/v2/auth/login', { method: 'POST', ip, body: String(status) });

/** A request that is counted in Redis: from then on the gateway is connected to it. */
async function counted(gateway: TestGateway): Promise<void> {
  await eventually(async () => {
    const before = await gateway.count('rate_limit_fallbacks_total');
    await post(gateway, newIp());
    expect(await gateway.count('rate_limit_fallbacks_total')).toBe(before);
  });
}

async function connected(url = redisUrl): Promise<TestGateway> {
  const gateway = await startGateway(upstream, { REDIS_URL: url });
  await counted(gateway);
  return gateway;
}

redisTest('two gateways share each window: of sixty requests to both at once the limit passes', async () => {
  const [one, other] = await Promise.all([connected(), connected()]);
  const ip = newIp();
  const replies = await Promise.all(range(60).map((n) => post(n % 2 === 0 ? one : other, ip)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(limit);
  for (const reply of replies.filter(({ status }) => status !== 200)) expectProblem(reply, 'rate-limited');
  await Promise.all([one.stop(), other.stop()]);
});

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

redisTest('of fifty wrong logins at once, counted in Redis, ten reach the service', async () => {
  const gateway = await connected();
  const ip = newIp();
  const replies = await Promise.all(range(50).map(() => login(gateway, ip, 401)));
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(10);
  await gateway.stop();
});

/** Stands between the gateway and Redis, and can hold back what Redis says. */
async function startWire() {
  let held = false;
  const pairs = new Set<Socket>();
  const wire = await startTcpUpstream((near) => {
    const { hostname, port } = new URL(redisUrl);
    const far = connect(Number(port), hostname).on('error', () => {});
    near.on('data', (bytes) => void (held || far.write(bytes))).on('close', () => far.destroy());
    far.on('data', (bytes) => void (held || near.write(bytes))).on('close', () => near.destroy());
    pairs.add(near);
  });
  return {
    url: wire.url.replace('http:', 'redis:'),
    stop: () => wire.stop(),
    hold: () => void (held = true),
    resume() {
      held = false;
      for (const socket of pairs) socket.destroy();
    },
  };
}

redisTest(
  'Redis that stops answering: the windows go on in-process at once, and are shared again when it is back',
  async () => {
    const wire = await startWire();
    const gateway = await connected(wire.url);
    const ip = newIp();
    for (const _ of range(limit)) expect((await post(gateway, ip)).status).toBe(200);
    expectProblem(await post(gateway, ip), 'rate-limited');
    const before = await gateway.count('rate_limit_fallbacks_total');
    wire.hold();
    expectProblem(await post(gateway, ip), 'rate-limited'); // Its window does not begin anew.
    const fresh = newIp();
    for (const _ of range(limit)) expect((await post(gateway, fresh)).status).toBe(200);
    expectProblem(await post(gateway, fresh), 'rate-limited');
    expect(await gateway.count('rate_limit_fallbacks_total')).toBe(before + limit + 2);
    const other = newIp();
    for (const _ of range(10)) expect((await login(gateway, other, 401)).status).toBe(401);
    expectProblem(await login(gateway, other, 200), 'rate-limited');
    wire.resume();
    await counted(gateway);
    expectProblem(await post(gateway, ip), 'rate-limited');
    await gateway.stop();
    await wire.stop();
  },
);
