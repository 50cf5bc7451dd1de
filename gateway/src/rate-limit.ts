import { setTimeout as sleep } from 'node:timers/promises';
import { type Endpoint, Problem, type RateLimit } from '@attribution/contracts';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createAttemptGate } from './attempt-gate.ts';
import { rateLimitKey } from './client-ip.ts';
import type { SharedCounts } from './redis.ts';
import { type Place, takeSharedPlace } from './shared-places.ts';

/** The limited passage of one request. */
export interface Passage {
  /** Response headers that tell where the window stands. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be called with the answer's status (undefined: none was given); the first call counts. */
  settle(status: number | undefined): void;
}

export interface RateLimiter {
  /** Lets a request pass; undefined where nothing limits it. Rejects with `rate-limited`. */
  enter(endpoint: Endpoint, ip: string): Promise<Passage> | undefined;
}

export interface RateLimiterOptions {
  readonly endpoints: readonly Endpoint[];
  readonly shared?: Pick<SharedCounts, 'redis' | 'breaker'> | undefined;
  /** Told of each count that was made in-process because Redis did not answer in time. */
  readonly onFallback: () => void;
}

/** Counts in fixed windows, opened by the first hit: in Redis, shared by all gateways; in-process without it. */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const limiters = new Map<string, Enter>();
  for (const endpoint of options.endpoints) {
    const limit = endpoint.rate_limit;
    if (!limit) continue;
    const window = createWindow(endpoint.operation, limit, options);
    limiters.set(
      endpoint.operation,
      limit.counts === 'requests' ? countRequests(window, limit) : countUnauthorized(window, limit),
    );
  }
  return { enter: (endpoint, ip) => limiters.get(endpoint.operation)?.(rateLimitKey(ip)) };
}

type Enter = (key: string) => Promise<Passage>;

interface Window extends Pick<RateLimiterRedis, 'consume' | 'get'> {
  /** A place that all gateways count, for an attempt that may fail; undefined when others have all of them. */
  takePlace(key: string): Promise<Place | undefined>;
}

const inProcess: Place = { async release() {} };

function createWindow(
  name: string,
  { limit, window_seconds }: RateLimit,
  { shared: counts, onFallback }: Pick<RateLimiterOptions, 'shared' | 'onFallback'>,
): Window {
  const settings = { keyPrefix: `rate:${name}`, points: limit, duration: window_seconds };
  if (!counts) {
    const alone = new RateLimiterMemory(settings);
    return {
      consume: (key, points) => alone.consume(key, points),
      get: (key) => alone.get(key),
      takePlace: async () => inProcess,
    };
  }
  const { redis, breaker } = counts;
  const shared = new RateLimiterRedis({ ...settings, storeClient: redis, rejectIfRedisNotReady: true });
  const local = new RateLimiterMemory(settings);
  async function either<T>(inRedis: () => Promise<T>, inProcess: () => Promise<T>, counted?: () => void): Promise<T> {
    try {
      const state = await breaker.attempt(inRedis);
      if (state === null || isCount(state)) {
        counted?.();
        return state;
      }
    } catch (error) {
      if (isCount(error)) {
        counted?.();
        throw error;
      }
    }
    onFallback();
    return inProcess();
  }
  return {
    consume(key, points) {
      const here = () => local.consume(key, points);
      // What was counted in Redis is remembered here too: no window begins anew when Redis goes away.
      return either(
        () => shared.consume(key, points),
        here,
        () => void here().catch(() => {}),
      );
    },
    get: (key) =>
      either(
        () => shared.get(key),
        () => local.get(key),
      ),
    takePlace: (key) => takeSharedPlace(counts, shared.getKey(key), limit),
  };
}

/** Whether it is the state of a window: what speaks Redis's protocol may still answer anything. */
function isCount(state: unknown): boolean {
  return state instanceof RateLimiterRes && state.consumedPoints >= 0 && state.msBeforeNext >= 0;
}

/** Every request counts. */
function countRequests(window: Window, limit: RateLimit): Enter {
  return async (key) => {
    const state = await window.consume(key).catch((refused: unknown) => {
      throw refused instanceof RateLimiterRes ? tooMany(limit, refused) : refused;
    });
    return { headers: headersOf(limit, state), settle() {} };
  };
}

/** Milliseconds between two looks for a place while attempts at other gateways have all of them. */
const betweenLooks = 25;

/**
 * Only answers of 401 count. Attempts of one client beyond what is left wait for those before them to be judged: in a
 * line at each gateway, of which the first look for places that are shared by all gateways.
 */
function countUnauthorized(window: Window, limit: RateLimit): Enter {
  const gate = createAttemptGate();
  const looking = createAttemptGate();
  return async (key) => {
    let state: RateLimiterRes | null = null;
    const left = async () => {
      state = await window.get(key);
      if (state && state.consumedPoints >= limit.limit) throw tooMany(limit, state);
      return limit.limit - (state?.consumedPoints ?? 0);
    };
    const crowded = () => tooManyAtOnce(limit, state);

    /** One of a client's attempts looks at a time: Redis is not to be asked by all that wait. */
    async function takePlace(): Promise<Place> {
      const stopLooking = await looking.enter(key, async () => 1, crowded);
      try {
        for (;;) {
          const place = await window.takePlace(key);
          if (place) return place;
          await left(); // Rejects when there is nothing to wait for.
          await sleep(betweenLooks);
        }
      } finally {
        stopLooking();
      }
    }

    const leave = await gate.enter(key, left, crowded);
    const place = await takePlace().catch((error: unknown) => {
      leave();
      throw error;
    });
    let settled = false;
    return {
      headers: {},
      settle(status) {
        if (settled) return;
        settled = true;
        // Counted before the place is free. Beyond the limit consume rejects with the state: counted all the same.
        const counted = status === 401 ? window.consume(key).catch(() => {}) : Promise.resolve();
        void counted.then(() => place.release()).then(leave);
      },
    };
  };
}

function headersOf(limit: RateLimit, state: RateLimiterRes): Record<string, string> {
  return {
    'ratelimit-limit': String(limit.limit),
    'ratelimit-remaining': String(Math.max(0, limit.limit - state.consumedPoints)),
    'ratelimit-reset': String(Math.ceil(Math.max(0, state.msBeforeNext) / 1000)),
  };
}

function tooMany(limit: RateLimit, state: RateLimiterRes): Problem {
  const headers = headersOf(limit, state);
  const seconds = Math.max(1, Number(headers['ratelimit-reset']));
  return new Problem('rate-limited', `Too many attempts from this address. Try again in ${seconds} s.`, {
    ...headers,
    'retry-after': String(seconds),
  });
}

function tooManyAtOnce(limit: RateLimit, state: RateLimiterRes | null): Problem {
  const headers = headersOf(limit, state ?? new RateLimiterRes(limit.limit, 0));
  return new Problem('rate-limited', 'Too many attempts at once from this address.', {
    ...headers,
    'retry-after': '1',
  });
}
