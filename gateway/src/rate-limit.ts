import { setTimeout as sleep } from 'node:timers/promises';
import { type Endpoint, Problem, type RateLimit } from '@attribution/contracts';
import { networkOf } from '@attribution/http';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createAttemptGate } from './attempt-gate.ts';
import type { SharedCounts } from './redis.ts';
import { type Slot, takeSharedSlot } from './shared-slots.ts';

/** One request that a rate limit has admitted. */
export interface Admission {
  /** Response headers with the state of the window. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be called with the status of the response, or undefined if there was none. Only the first call has an effect. */
  settle(status: number | undefined): void;
}

export interface RateLimiter {
  /** Admits a request; undefined if its endpoint has no limit. Rejects with `rate-limited`. */
  admit(endpoint: Endpoint, ip: string): Promise<Admission> | undefined;
}

export interface RateLimiterOptions {
  readonly endpoints: readonly Endpoint[];
  readonly shared?: Pick<SharedCounts, 'redis' | 'breaker'> | undefined;
  /** Called for each count that is made in-process because Redis did not answer in time. */
  readonly onFallback: () => void;
}

/** Counts in fixed windows, which the first request opens: in Redis for all gateways together, or in-process without Redis. */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const limiters = new Map<string, Admit>();
  for (const endpoint of options.endpoints) {
    const limit = endpoint.rate_limit;
    if (!limit) continue;
    const window = createWindow(endpoint.operation, limit, options);
    limiters.set(
      endpoint.operation,
      limit.counts === 'requests' ? countRequests(window, limit) : countUnauthorized(window, limit),
    );
  }
  return { admit: (endpoint, ip) => limiters.get(endpoint.operation)?.(networkOf(ip)) };
}

type Admit = (key: string) => Promise<Admission>;

interface Window extends Pick<RateLimiterRedis, 'consume' | 'get'> {
  /** Takes a slot for an attempt that may fail, counted across all gateways; undefined when none is free. */
  takeSlot(key: string): Promise<Slot | undefined>;
}

const inProcessSlot: Slot = { async release() {} };

function createWindow(
  name: string,
  { limit, window_seconds }: RateLimit,
  { shared, onFallback }: Pick<RateLimiterOptions, 'shared' | 'onFallback'>,
): Window {
  const settings = { keyPrefix: `rate:${name}`, points: limit, duration: window_seconds };
  if (!shared) {
    const memory = new RateLimiterMemory(settings);
    return {
      consume: (key, points) => memory.consume(key, points),
      get: (key) => memory.get(key),
      takeSlot: async () => inProcessSlot,
    };
  }
  const { redis, breaker } = shared;
  const limiter = new RateLimiterRedis({ ...settings, storeClient: redis, rejectIfRedisNotReady: true });
  const fallback = new RateLimiterMemory(settings);
  async function withFallback<T>(
    inRedis: () => Promise<T>,
    inProcess: () => Promise<T>,
    onCounted?: () => void,
  ): Promise<T> {
    try {
      const state = await breaker.attempt(inRedis);
      if (state === null || isCount(state)) {
        onCounted?.();
        return state;
      }
    } catch (error) {
      if (isCount(error)) {
        onCounted?.();
        throw error;
      }
    }
    onFallback();
    return inProcess();
  }
  return {
    consume(key, points) {
      const countHere = () => fallback.consume(key, points);
      // What Redis counts is counted in-process too, so that no window starts over when Redis fails.
      return withFallback(
        () => limiter.consume(key, points),
        countHere,
        () => void countHere().catch(() => {}),
      );
    },
    get: (key) =>
      withFallback(
        () => limiter.get(key),
        () => fallback.get(key),
      ),
    takeSlot: (key) => takeSharedSlot(shared, limiter.getKey(key), limit),
  };
}

/** Whether a value is the state of a window: a server that speaks Redis's protocol may reply with anything. */
function isCount(state: unknown): boolean {
  return state instanceof RateLimiterRes && state.consumedPoints >= 0 && state.msBeforeNext >= 0;
}

/** Counts every request. */
function countRequests(window: Window, limit: RateLimit): Admit {
  return async (key) => {
    const state = await window.consume(key).catch((refused: unknown) => {
      throw refused instanceof RateLimiterRes ? tooMany(limit, refused) : refused;
    });
    return { headers: headersOf(limit, state), settle() {} };
  };
}

/** How long an attempt waits before it asks again for a slot, while attempts at other gateways hold all of them. */
const slotPollMs = 25;

/**
 * Counts only responses with 401. When a client has as many attempts in progress as may still fail, its further attempts
 * wait for those before them. They wait in a line at each gateway; the first in line takes a slot, which all gateways share.
 */
function countUnauthorized(window: Window, limit: RateLimit): Admit {
  const gate = createAttemptGate();
  const polling = createAttemptGate();
  return async (key) => {
    let state: RateLimiterRes | null = null;
    const remaining = async () => {
      state = await window.get(key);
      if (state && state.consumedPoints >= limit.limit) throw tooMany(limit, state);
      return limit.limit - (state?.consumedPoints ?? 0);
    };
    const tooManyWaiting = () => tooManyAtOnce(limit, state);

    /** Only one of a client's attempts polls at a time, so that Redis is not asked by all that wait. */
    async function takeSlot(): Promise<Slot> {
      const stopPolling = await polling.enter(key, async () => 1, tooManyWaiting);
      try {
        for (;;) {
          const slot = await window.takeSlot(key);
          if (slot) return slot;
          await remaining(); // Rejects when the limit has been reached: no slot will become free.
          await sleep(slotPollMs);
        }
      } finally {
        stopPolling();
      }
    }

    const leave = await gate.enter(key, remaining, tooManyWaiting);
    const slot = await takeSlot().catch((error: unknown) => {
      leave();
      throw error;
    });
    let settled = false;
    return {
      headers: {},
      settle(status) {
        if (settled) return;
        settled = true;
        // The failure is counted before the slot is free. Beyond the limit `consume` counts too, and rejects.
        const counted = status === 401 ? window.consume(key).catch(() => {}) : Promise.resolve();
        void counted.then(() => slot.release()).then(leave);
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
