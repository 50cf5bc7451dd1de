import { endpoints } from '@attribution/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
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
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway(upstream);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

/** The table of spec §8. */
const table = [
  ['/v2/auth/signup', 3600, 5],
  ['/v2/auth/login', 900, 10],
  ['/v2/auth/api-token', 60, 60],
  ['/v2/auth/refresh', 60, 30],
  ['/v2/auth/verify-email', 900, 5],
  ['/v2/auth/verify-email/resend', 900, 3],
  ['/v2/auth/forgot-password', 900, 3],
  ['/v2/auth/reset-password', 900, 5],
] as const;
const declared = endpoints.filter(
  ({ method, path }) => method === 'POST' && table.some(([limited]) => limited === path),
);
/** Login counts failures only, and has a test file of its own. */
const windows = table.filter(
  ([limited]) => declared.some(({ path }) => path === limited) && limited !== '/v2/auth/login',
);

test('each endpoint of the table of spec §8 has its window, and no other endpoint has one', () => {
  const limited = endpoints.filter(({ rate_limit: limit }) => limit);
  expect(new Set(limited)).toEqual(new Set(declared));
  for (const [path, seconds, limit] of table) {
    const found = declared.find((endpoint) => endpoint.path === path);
    const counts = path === '/v2/auth/login' ? 'unauthorized' : 'requests';
    if (found) expect([path, found.rate_limit]).toEqual([path, { window_seconds: seconds, limit, counts }]);
  }
});

describe.each(windows)('POST %s', (path, seconds, limit) => {
  const post = (ip: string, body?: string) =>
    gateway.send(path, { method: 'POST', ip, ...(body !== undefined && { body }) });

  test(`429: after ${limit} requests, which pass and count down`, async () => {
    const ip = newIp();
    const before = upstream.seen.length;
    for (const n of range(limit)) {
      const reply = await post(ip);
      expect(reply.status).toBe(200);
      expect(reply.headers).toMatchObject({
        'ratelimit-limit': String(limit),
        'ratelimit-remaining': String(limit - 1 - n),
      });
    }
    const refused = await post(ip);
    const reset = Number(refused.headers['ratelimit-reset']);
    expectProblem(refused, 'rate-limited', new RegExp(`Try again in ${reset} s`));
    expect(refused.headers).toMatchObject({
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'retry-after': String(reset),
      'cache-control': 'no-store',
    });
    expect(reset).toBeGreaterThan(seconds - 30);
    expect(reset).toBeLessThanOrEqual(seconds);
    expect(upstream.seen).toHaveLength(before + limit);
  });

  test(`429: of ${limit * 2} parallel requests ${limit} pass`, async () => {
    const ip = newIp();
    const replies = await Promise.all(range(limit * 2).map(() => post(ip)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(limit);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(limit);
  });

  test('429: every body counts, also a valid one', async () => {
    const ip = newIp();
    const bodies = ['', '{', '[]', '\0', '{"email":"a@b.example"}', 'x'.repeat(100_000)];
    const forwarded = ({ length }: string) => (length > 16_384 ? 400 : 200);
    for (const n of range(limit)) {
      const body = bodies[n % bodies.length] ?? '';
      expect((await post(ip, body)).status).toBe(forwarded(body));
    }
    for (const body of bodies) expectProblem(await post(ip, body), 'rate-limited');
  });
});

test('each endpoint and each address has a window of its own', async () => {
  const [ip, other] = [newIp(), newIp()];
  const resend = '/v2/auth/verify-email/resend';
  for (const _ of range(3)) await gateway.send(resend, { method: 'POST', ip });
  expectProblem(await gateway.send(resend, { method: 'POST', ip }), 'rate-limited');
  expect((await gateway.send(resend, { method: 'POST', ip: other })).status).toBe(200);
  for (const path of ['/v2/auth/verify-email', '/v2/auth/forgot-password', '/v2/auth/login']) {
    expect((await gateway.send(path, { method: 'POST', ip })).status).toBe(200);
  }
});

test('429: another query, token or header does not open another window', async () => {
  const ip = newIp();
  const path = '/v2/auth/forgot-password';
  for (const n of range(3)) await gateway.send(`${path}?n=${n}`, { method: 'POST', ip });
  expectProblem(
    await gateway.send(`${path}?n=4`, { method: 'POST', ip, token: 'x', headers: { 'User-Agent': 'new' } }),
    'rate-limited',
  );
});

test('429: all keys used from one address share its 60 exchanges a minute', async () => {
  const ip = newIp();
  const exchange = (n: number) =>
    gateway.send('/v2/auth/api-token', { method: 'POST', ip, headers: { 'x-access-key-id': `atp_stage_${n}` } });
  for (const n of range(60)) expect((await exchange(n)).status).toBe(200);
  expectProblem(await exchange(60), 'rate-limited');
});

test('unknown spellings of a path do not count', async () => {
  const ip = newIp();
  const wrong = [
    '/v2/auth/forgot-password/',
    '/v2/auth/Forgot-Password',
    '//v2/auth/forgot-password',
    '/v2/auth/forgot%2dpassword',
  ];
  for (const path of wrong) expectProblem(await gateway.send(path, { method: 'POST', ip }), 'not-found');
  expectProblem(await gateway.send('/v2/auth/forgot-password', { ip }), 'not-found');
  const reply = await gateway.send('/v2/auth/forgot-password', { method: 'POST', ip });
  expect(reply.headers['ratelimit-remaining']).toBe('2');
});

test('all other endpoints are unlimited', async () => {
  const ip = newIp();
  const replies = await Promise.all(range(150).map(() => gateway.send('/v2/plans', { ip })));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
  expect(replies[0]?.headers).not.toHaveProperty('ratelimit-limit');
});

test('429: the limit that a service has refused by reaches the client, not that of the gateway', async () => {
  const own = { 'ratelimit-limit': '20', 'ratelimit-remaining': '0', 'ratelimit-reset': '840', 'retry-after': '840' };
  const limiting = await startUpstream((res) => void res.writeHead(429, own).end('{}'));
  const before = await startGateway(limiting);
  for (const path of ['/v2/auth/verify-email', '/v2/auth/reset-password', '/v2/auth/login']) {
    const reply = await before.send(path, { method: 'POST', ip: newIp(), body: '{}' });
    expect([path, reply.status]).toEqual([path, 429]);
    expect(reply.headers).toMatchObject(own);
  }
  await before.stop();
  await limiting.stop();
});
