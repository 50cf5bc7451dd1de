import { randomUUID } from 'node:crypto';
import type { SharedCounts } from './redis.ts';

/** A slot that is not renewed for so long is free again: the gateway that took it has ended. */
const slotTtlMs = 10_000;

/** KEYS: a sorted set of slots, scored by the time at which each expires. ARGV: a slot, and its time to live. */
const renewScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`;

/** Takes a slot if failures and slots together are below the limit. KEYS[2]: the count of failures. ARGV[3]: the limit. */
const takeScript = `
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + math.floor(time[2] / 1000))
local failures = tonumber(redis.call('GET', KEYS[2]) or '0')
if failures + redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
${renewScript}`;

/** What an attempt holds until its result is known. */
export interface Slot {
  release(): Promise<void>;
}

/**
 * Takes a slot of a rate-limit window, for all gateways on one Redis. A window has as many slots as attempts may still
 * fail; undefined means that none is free. A slot is not a count: it neither opens a window nor extends one. When Redis
 * does not answer in time, the attempt goes on, and this gateway alone enforces the limit.
 */
export async function takeSharedSlot(
  { redis, breaker }: Pick<SharedCounts, 'redis' | 'breaker'>,
  window: string,
  limit: number,
): Promise<Slot | undefined> {
  const slots = `${window}:slots`;
  const id = randomUUID();
  const attempt = <T>(work: () => Promise<T>) => breaker.attempt(work).catch(() => undefined);
  if ((await attempt(() => redis.eval(takeScript, 2, slots, window, id, slotTtlMs, limit))) === 0) return undefined;
  const renew = () => void attempt(() => redis.eval(renewScript, 1, slots, id, slotTtlMs));
  const renewing = setInterval(renew, slotTtlMs / 3).unref();
  return {
    async release() {
      clearInterval(renewing);
      // Redis is asked also when it did not answer in time before: it may have taken the slot.
      await attempt(() => redis.zrem(slots, id));
    },
  };
}
