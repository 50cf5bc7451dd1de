import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type Breaker, createBreaker } from './breaker.ts';

/** Redis, and the way to it: a limit must be judged at once, by Redis or without it. */
export interface SharedCounts {
  readonly redis: Redis;
  readonly breaker: Breaker;
  close(): void;
}

/** `patience`: milliseconds that a request waits for Redis. */
export function openSharedCounts(url: string, patience: number, logger: Logger): SharedCounts {
  // ioredis's defaults queue and retry for seconds.
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: Math.max(1_000, patience),
    socketTimeout: 3_000, // What says nothing for so long may be another machine by now: connect anew.
    disconnectTimeout: 500,
    retryStrategy: (attempt) => Math.min(100 * attempt, 2_000),
  });
  let away = false;
  redis.on('error', (error) => {
    if (!away) logger.warn({ err: error }, 'Redis is away: rate limits are counted in-process');
    away = true;
  });
  redis.on('ready', () => {
    if (away) logger.info('Redis is back: rate limits are shared again');
    away = false;
  });
  const breaker = createBreaker({
    patience,
    strikes: 3,
    pause: 1_000,
    probe: () => redis.ping(),
    onChange(working) {
      if (working) logger.info('Redis is fast again: rate limits are shared again');
      else logger.warn('Redis is slow: rate limits are counted in-process');
    },
  });
  return {
    redis,
    breaker,
    close() {
      breaker.stop();
      redis.disconnect();
    },
  };
}
