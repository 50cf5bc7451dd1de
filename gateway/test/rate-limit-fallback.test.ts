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

/** The limits hold in-process with this as Redis. `reached` tells when the gateway has it in use, or has given it up. */
async function holdsWith(redis: { url: string }, reached: () => void): Promise<void> {
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

test('Redis is away', async () => {
  const gone = await startTcpUpstream(() => {});
  await gone.stop();
  await holdsWith(gone, () => {});
});

test('the warning that Redis is away is given once, not for each attempt to connect', async () => {
  const refusing = await startTcpUpstream((socket) => socket.destroy());
  const gateway = await startGateway(upstream, { REDIS_URL: refusing.url.replace('http:', 'redis:') });
  await eventually(() => expect(refusing.connections.accepted).toBeGreaterThan(3));
  await eventually(() => expect(gateway.logs.text().split('Redis is away')).toHaveLength(2));
  await gateway.stop();
  await refusing.stop();
});

test('Redis hangs: it takes the connection and never answers', async () => {
  const hung = await startTcpUpstream(() => {});
  await holdsWith(hung, () => expect(hung.connections.accepted).toBeGreaterThan(0));
  await hung.stop();
});

/** Greets as Redis does, and answers every further command with the same bytes; while it hangs, later. */
async function startLiar(answer: string) {
  let asked = 0;
  let held: (() => void)[] | undefined;
  const greeting: Record<string, string> = { hello: '+OK\r\n', client: '+OK\r\n', info: '$0\r\n\r\n' };
  const server = await startTcpUpstream((socket) => {
    socket.on('data', (bytes) => {
      for (const [, command = ''] of bytes.toString('latin1').matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const greeted = greeting[command.toLowerCase()];
        if (greeted === undefined && command.toLowerCase() !== 'ping') asked++;
        const say = () => socket.write(greeted ?? (command.toLowerCase() === 'ping' ? '+PONG\r\n' : answer));
        if (held) held.push(say);
        else say();
      }
    });
  });
  return {
    ...server,
    asked: () => asked,
    hang: () => (held = []),
    goOn() {
      const late = held ?? [];
      held = undefined;
      for (const say of late) say();
    },
  };
}

/** As the script answers that counts: the first hit of a window of 15 minutes. */
const firstHit = '*2\r\n:1\r\n:900000\r\n';

test('Redis hangs after it was in use: three requests wait for it, those after them do not ask it', async () => {
  const redis = await startLiar(firstHit);
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
  const asked = redis.asked();
  for (const _ of range(20)) expect((await post()).status).toBe(200);
  expect(redis.asked()).toBe(asked);
  expect(gateway.logs.text().split('Redis is slow')).toHaveLength(2);
  redis.goOn();
  await eventually(inUse);
  expect(redis.asked()).toBeGreaterThan(asked);
  await gateway.stop();
  await redis.stop();
});

test('a window that began in Redis does not begin anew when Redis goes away', async () => {
  const redis = await startLiar(firstHit);
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
  ['what a read-only replica says', "-READONLY You can't write against a read only replica.\r\n"],
  ['what a loading server says', '-LOADING Redis is loading the dataset in memory\r\n'],
  ['nothing', '$-1\r\n'],
  ['an empty text', '$0\r\n\r\n'],
  ['a number', ':1\r\n'],
  ['an empty list', '*0\r\n'],
  ['words for numbers', '*2\r\n$3\r\none\r\n$3\r\ntwo\r\n'],
  ['a list cut short', '*1\r\n:999\r\n'],
  ['a count without an end', '*2\r\n:999\r\n:-1\r\n'],
  ['negative numbers', '*2\r\n:-5\r\n:-5\r\n'],
])('Redis answers every command with %s', async (_what, answer) => {
  const liar = await startLiar(answer);
  await holdsWith(liar, () => expect(liar.asked()).toBeGreaterThan(0));
  await liar.stop();
});

test.each([
  ['HTTP', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'],
  ['noise', '\x00\xff\x13\x37'.repeat(1_000)],
])('what is at its address speaks %s', async (_what, answer) => {
  const stranger = await startTcpUpstream((socket) => void socket.on('data', () => socket.write(answer, 'latin1')));
  await holdsWith(stranger, () => expect(stranger.connections.accepted).toBeGreaterThan(0));
  await stranger.stop();
});
