import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type Breaker, createBreaker } from './breaker.ts';

/** Redis behind a circuit breaker: a rate limit must be decided immediately, with Redis or without it. */
export interface SharedCounts {
  readonly redis: Redis;
  readonly breaker: Breaker;
  close(): void;
}

/** `timeoutMs`: how long a request waits for Redis. */
export function openSharedCounts(url: string, timeoutMs: number, logger: Logger): SharedCounts {
  // By default ioredis queues commands and retries them for seconds.
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: Math.max(1_000, timeoutMs),
    socketTimeout: 3_000, // After a failover the address may belong to another machine: a new connection finds it.
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
    timeoutMs,
    maxTimeouts: 3,
    probeIntervalMs: 1_000,
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
