import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  expectProblem,
  newIp,
  range,
  startGateway,
  startTcpUpstream,
  startUpstream,
  type Upstream,
} from './support.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream((res, { body }) => void res.writeHead(Number(body) || 200).end());
});
afterAll(() => upstream.stop());

const path = '/v2/auth/forgot-password';
const limit = 3;

/** Asserts that limits are enforced in-process with this server as Redis. `reached` throws until the gateway has tried to use it. */
async function expectLimitsWith(redis: { url: string }, reached: () => void): Promise<void> {
  const gateway = await startGateway(upstream, { REDIS_URL: redis.url.replace('http:', 'redis:') });
  const post = (ip: string) => gateway.send(path, { method: 'POST', ip });
  const login = (ip: string, status: number) =>
    gateway.send('/v2/auth/login', { method: 'POST', ip, body: String(status) });
  try {
    await eventually(async () => {
      await post(newIp());
      reached();
    });
    const before = await gateway.count('rate_limit_fallbacks_total');
    const ip = newIp();
    for (const n of range(limit)) {
      const reply = await post(ip);
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': String(limit - 1 - n) });
    }
    expectProblem(await post(ip), 'rate-limited');
    expect(await gateway.count('rate_limit_fallbacks_total')).toBe(before + limit + 1);
    for (const _ of range(10)) expect((await login(ip, 401)).status).toBe(401);
    expectProblem(await login(ip, 200), 'rate-limited');
    expect(gateway.logs.text()).not.toContain('The gateway failed');
  } finally {
    await gateway.stop();
  }
}

test('limits are enforced when Redis is not running', async () => {
  const stopped = await startTcpUpstream(() => {});
  await stopped.stop();
  await expectLimitsWith(stopped, () => {});
});

test('the warning that Redis is away is logged once, not for each attempt to connect', async () => {
  const refusing = await startTcpUpstream((socket) => socket.destroy());
  const gateway = await startGateway(upstream, { REDIS_URL: refusing.url.replace('http:', 'redis:') });
  await eventually(() => expect(refusing.connections.accepted).toBeGreaterThan(3));
  await eventually(() => expect(gateway.logs.text().split('Redis is away')).toHaveLength(2));
  await gateway.stop();
  await refusing.stop();
});

test('limits are enforced when Redis accepts connections and never responds', async () => {
  const hung = await startTcpUpstream(() => {});
  await expectLimitsWith(hung, () => expect(hung.connections.accepted).toBeGreaterThan(0));
  await hung.stop();
});

/** Greets as Redis does, and replies to every other command with the same bytes; between `hang` and `resume` it holds replies back. */
async function startFakeRedis(reply: string) {
  let commands = 0;
  let held: (() => void)[] | undefined;
  const greeting: Record<string, string> = { hello: '+OK\r\n', client: '+OK\r\n', info: '$0\r\n\r\n' };
  const server = await startTcpUpstream((socket) => {
    socket.on('data', (bytes) => {
      for (const [, command = ''] of bytes.toString('latin1').matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const greetingReply = greeting[command.toLowerCase()];
        if (greetingReply === undefined && command.toLowerCase() !== 'ping') commands++;
        const respond = () => socket.write(greetingReply ?? (command.toLowerCase() === 'ping' ? '+PONG\r\n' : reply));
        if (held) held.push(respond);
        else respond();
      }
    });
  });
  return {
    ...server,
    commands: () => commands,
    hang: () => (held = []),
    resume() {
      const delayed = held ?? [];
      held = undefined;
      for (const respond of delayed) respond();
    },
  };
}

/** The reply of the counting script to the first request of a window of 15 minutes. */
const firstHit = '*2\r\n:1\r\n:900000\r\n';

test('when Redis hangs while in use, three requests wait for it and later ones do not', async () => {
  const redis = await startFakeRedis(firstHit);
  const gateway = await startGateway(upstream, { REDIS_URL: redis.url.replace('http:', 'redis:') });
  const post = () => gateway.send(path, { method: 'POST', ip: newIp() });
  const fallbacks = () => gateway.count('rate_limit_fallbacks_total');
  const inUse = async () => {
    const before = await fallbacks();
    await post();
    expect(await fallbacks()).toBe(before);
  };
  await eventually(inUse);
  redis.hang();
  for (const _ of range(3)) expect((await post()).status).toBe(200);
  const before = redis.commands();
  for (const _ of range(20)) expect((await post()).status).toBe(200);
  expect(redis.commands()).toBe(before);
  expect(gateway.logs.text().split('Redis is slow')).toHaveLength(2);
  redis.resume();
  await eventually(inUse);
  expect(redis.commands()).toBeGreaterThan(before);
  await gateway.stop();
  await redis.stop();
});

test('a window that began in Redis continues when Redis fails', async () => {
  const redis = await startFakeRedis(firstHit);
  const gateway = await startGateway(upstream, { REDIS_URL: redis.url.replace('http:', 'redis:') });
  const fallbacks = () => gateway.count('rate_limit_fallbacks_total');
  await eventually(async () => {
    const before = await fallbacks();
    await gateway.send(path, { method: 'POST', ip: newIp() });
    expect(await fallbacks()).toBe(before);
  });
  const ip = newIp();
  const before = await fallbacks();
  for (const _ of range(limit - 1)) expect((await gateway.send(path, { method: 'POST', ip })).status).toBe(200);
  expect(await fallbacks()).toBe(before);
  await redis.stop();
  expect((await gateway.send(path, { method: 'POST', ip })).status).toBe(200);
  expectProblem(await gateway.send(path, { method: 'POST', ip }), 'rate-limited');
  await gateway.stop();
});

test.each([
  ['an error', '-OOM command not allowed when used memory is over the limit\r\n'],
  ['the error of a read-only replica', "-READONLY You can't write against a read only replica.\r\n"],
  ['the error of a server that is loading', '-LOADING Redis is loading the dataset in memory\r\n'],
  ['nothing', '$-1\r\n'],
  ['an empty text', '$0\r\n\r\n'],
  ['a number', ':1\r\n'],
  ['an empty list', '*0\r\n'],
  ['words instead of numbers', '*2\r\n$3\r\none\r\n$3\r\ntwo\r\n'],
  ['a list that is too short', '*1\r\n:999\r\n'],
  ['a count without an expiry', '*2\r\n:999\r\n:-1\r\n'],
  ['negative numbers', '*2\r\n:-5\r\n:-5\r\n'],
])('limits are enforced when Redis replies to every command with %s', async (_what, reply) => {
  const redis = await startFakeRedis(reply);
  await expectLimitsWith(redis, () => expect(redis.commands()).toBeGreaterThan(0));
  await redis.stop();
});

test.each([
  ['HTTP', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'],
  ['noise', '\x00\xff\x13\x37'.repeat(1_000)],
])('limits are enforced when the server at the address of Redis sends %s', async (_what, bytes) => {
  const server = await startTcpUpstream((socket) => void socket.on('data', () => socket.write(bytes, 'latin1')));
  await expectLimitsWith(server, () => expect(server.connections.accepted).toBeGreaterThan(0));
  await server.stop();
});
