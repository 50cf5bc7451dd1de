import { type Endpoint, endpoint } from '@attribution/contracts';
import { eventually, testServers } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { createRateLimiter, type RateLimiter } from '../src/rate-limit.ts';
import { openSharedCounts, type SharedCounts } from '../src/redis.ts';
import { newIp, range } from './support.ts';

/** An endpoint with a window of one second, so that a test can see it end. */
const short = (operation: string, counts: 'requests' | 'unauthorized') =>
  endpoint({
    operation: `${operation}_${process.pid}`,
    method: 'POST',
    path: '/v2/short',
    service: 'account',
    summary: 'A short window',
    access: { credential: 'none' },
    rate_limit: { window_seconds: 1, limit: 2, counts },
    success: { status: 204, description: 'Done' },
  });
const all = short('all', 'requests');
const failed = short('failed', 'unauthorized');
const endpoints: Endpoint[] = [all, failed];

const url = testServers.redisUrl();

describe.each([['in-process', undefined], ...(url ? [['in Redis', url] as const] : [])])('%s', (_where, at) => {
  let shared: SharedCounts | undefined;
  let limiter: RateLimiter;
  let fallbacks = 0;
  beforeAll(async () => {
    shared = at === undefined ? undefined : openSharedCounts(at, 1_000, pino({ enabled: false }));
    await eventually(() => shared?.redis.ping());
    limiter = createRateLimiter({ endpoints, shared, onFallback: () => fallbacks++ });
  });
  afterAll(() => {
    shared?.close();
    expect(fallbacks).toBe(0);
  });

  const fail = async (ip: string) => (await limiter.admit(failed, ip))?.settle(401);

  test('a window ends, and the next one has the same limit', async () => {
    const ip = newIp();
    const hits = await Promise.allSettled(range(3).map(() => limiter.admit(all, ip)));
    expect(hits.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const next = await eventually(() => limiter.admit(all, ip));
    expect(next?.headers).toEqual({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '1' });
    await limiter.admit(all, ip);
  });

  test('refused requests do not extend a window, which starts with its first request', async () => {
    const ip = newIp();
    for (const _ of range(2)) await limiter.admit(all, ip);
    // The client keeps sending requests while it waits.
    const next = await eventually(() => limiter.admit(all, ip));
    expect(next?.headers['ratelimit-remaining']).toBe('1');
  });

  test('the window of failures ends too', async () => {
    const ip = newIp();
    await fail(ip);
    await fail(ip);
    const refused = { kind: 'rate-limited', headers: { 'retry-after': '1', 'ratelimit-remaining': '0' } };
    await expect(limiter.admit(failed, ip)).rejects.toMatchObject(refused);
    await eventually(() => limiter.admit(failed, ip));
  });

  test('only the first result of an attempt counts', async () => {
    const ip = newIp();
    const attempt = await limiter.admit(failed, ip);
    attempt?.settle(200);
    attempt?.settle(401);
    attempt?.settle(401);
    await fail(ip);
    (await limiter.admit(failed, ip))?.settle(200);
  });

  test('an endpoint without a limit has nothing to settle', () => {
    const { rate_limit: _, ...unlimited } = all;
    expect(limiter.admit({ ...unlimited, operation: 'unlimited' }, newIp())).toBeUndefined();
  });
});
