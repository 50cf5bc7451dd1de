import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { type Breaker, type BreakerOptions, createBreaker } from '../src/breaker.ts';

const never = () => new Promise<never>(() => {});
let breaker: Breaker;
let changes: boolean[];
function open(options: Partial<BreakerOptions> = {}): Breaker {
  changes = [];
  breaker = createBreaker({
    timeoutMs: 20,
    maxTimeouts: 1,
    probeIntervalMs: 20,
    probe: never,
    onChange: (working) => changes.push(working),
    ...options,
  });
  return breaker;
}
afterEach(() => breaker.stop());

const timedOut = /takes too long/;

test('a result in time is returned unchanged, also when it is an error', async () => {
  open();
  expect(await breaker.attempt(async () => 'done')).toBe('done');
  const error = new Error('refused');
  for (const _ of [1, 2, 3]) await expect(breaker.attempt(() => Promise.reject(error))).rejects.toBe(error);
  expect(await breaker.attempt(async () => 'done')).toBe('done');
  expect(changes).toEqual([]);
});

test('an attempt that takes too long is abandoned, and no other is made', async () => {
  open();
  let attempts = 0;
  await expect(breaker.attempt(never)).rejects.toThrow(timedOut);
  for (const _ of [1, 2, 3]) await expect(breaker.attempt(async () => attempts++)).rejects.toThrow(timedOut);
  expect(attempts).toBe(0);
  expect(changes).toEqual([false]);
});

test('only consecutive timeouts open the breaker: one attempt in time resets the count', async () => {
  open({ maxTimeouts: 3 });
  for (const work of [
    never,
    never,
    async () => 'done',
    never,
    never,
    () => Promise.reject(new Error('refused')),
    never,
    never,
  ])
    await breaker.attempt(work).catch(() => {});
  expect(changes).toEqual([]);
  await expect(breaker.attempt(never)).rejects.toThrow(timedOut);
  expect(changes).toEqual([false]);
});

test('several timeouts at the same time open the breaker once', async () => {
  open();
  await Promise.allSettled([1, 2, 3].map(() => breaker.attempt(never)));
  expect(changes).toEqual([false]);
});

test('attempts are made again only after a probe has succeeded in time', async () => {
  const probeResults = [never, () => Promise.reject(new Error('refused')), () => sleep(200), async () => 'PONG'];
  let probes = 0;
  open({ probe: () => (probeResults[probes++] ?? never)() });
  await expect(breaker.attempt(never)).rejects.toThrow(timedOut);
  await eventually(() => expect(changes).toEqual([false, true]));
  expect(probes).toBe(4);
  expect(await breaker.attempt(async () => 'done')).toBe('done');
});

test('the breaker opens again when attempts time out again', async () => {
  open({ probe: async () => 'PONG' });
  for (const n of [1, 2, 3]) {
    await expect(breaker.attempt(never)).rejects.toThrow(timedOut);
    await eventually(() => expect(changes).toHaveLength(2 * n));
  }
});

test('a response that arrived while the event loop was blocked is in time', async () => {
  open();
  const response = breaker.attempt(() => new Promise((resolve) => setImmediate(() => resolve('done'))));
  const until = performance.now() + 60;
  while (performance.now() < until);
  expect(await response).toBe('done');
  expect(changes).toEqual([]);
});

test('a stopped breaker does not probe', async () => {
  let probes = 0;
  const probe = () => {
    probes++;
    return Promise.reject(new Error('closed'));
  };
  open({ probe });
  await expect(breaker.attempt(never)).rejects.toThrow(timedOut);
  await eventually(() => expect(probes).toBeGreaterThan(1));
  breaker.stop();
  const before = probes;
  await sleep(100);
  expect(probes).toBe(before);
});
