import { randomUUID } from 'node:crypto';
import type { SharedCounts } from './redis.ts';

/** Milliseconds after which a place that nobody renews is free again, as the gateway that took it has ended. */
const kept = 10_000;

/** KEYS: a sorted set of places by the time when each is free again. ARGV: a place, and for how long it is kept. */
const keep = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/** As `keep`, where fewer are kept than may still fail. KEYS[2]: the count of failures. ARGV[3]: the limit. */
const take = `
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
local failures = tonumber(redis.call('GET', KEYS[2]) or '0')
if failures + redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
${keep}`;

/** What an attempt holds until it has been judged. */
export interface Place {
  release(): Promise<void>;
}

/**
 * Takes one of the places of a window, which are as many as attempts may still fail, for all gateways on one Redis.
 * Undefined: none is free. A place is no count: it neither opens a window nor makes one longer. When Redis does not
 * answer in time the attempt goes on all the same, and this gateway alone keeps the limit.
 */
export async function takeSharedPlace(
  { redis, breaker }: Pick<SharedCounts, 'redis' | 'breaker'>,
  window: string,
  limit: number,
): Promise<Place | undefined> {
  const places = `${window}:places`;
  const id = randomUUID();
  const ask = <T>(work: () => Promise<T>) => breaker.attempt(work).catch(() => undefined);
  if ((await ask(() => redis.eval(take, 2, places, window, id, kept, limit))) === 0) return undefined;
  const renewing = setInterval(() => void ask(() => redis.eval(keep, 1, places, id, kept)), kept / 3).unref();
  return {
    async release() {
      clearInterval(renewing);
      // Also where the answer was late: it may have been taken.
      await ask(() => redis.zrem(places, id));
    },
  };
}
