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
    patience: 20,
    strikes: 1,
    pause: 20,
    probe: never,
    onChange: (working) => changes.push(working),
    ...options,
  });
  return breaker;
}
afterEach(() => breaker.stop());

const late = /takes too long/;

test('what is done in time comes back as it is, be it an error', async () => {
  open();
  expect(await breaker.attempt(async () => 'done')).toBe('done');
  const error = new Error('refused');
  for (const _ of [1, 2, 3]) await expect(breaker.attempt(() => Promise.reject(error))).rejects.toBe(error);
  expect(await breaker.attempt(async () => 'done')).toBe('done');
  expect(changes).toEqual([]);
});

test('what takes too long is given up, and nothing else is attempted', async () => {
  open();
  let attempts = 0;
  await expect(breaker.attempt(never)).rejects.toThrow(late);
  for (const _ of [1, 2, 3]) await expect(breaker.attempt(async () => attempts++)).rejects.toThrow(late);
  expect(attempts).toBe(0);
  expect(changes).toEqual([false]);
});

test('it takes so many in a row that are too long: one in time between them begins the count anew', async () => {
  open({ strikes: 3 });
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
  await expect(breaker.attempt(never)).rejects.toThrow(late);
  expect(changes).toEqual([false]);
});

test('many that take too long at once are one change', async () => {
  open();
  await Promise.allSettled([1, 2, 3].map(() => breaker.attempt(never)));
  expect(changes).toEqual([false]);
});

test('attempts are made again when a probe is answered in time, and not before', async () => {
  const answers = [never, () => Promise.reject(new Error('refused')), () => sleep(200), async () => 'PONG'];
  let probes = 0;
  open({ probe: () => (answers[probes++] ?? never)() });
  await expect(breaker.attempt(never)).rejects.toThrow(late);
  await eventually(() => expect(changes).toEqual([false, true]));
  expect(probes).toBe(4);
  expect(await breaker.attempt(async () => 'done')).toBe('done');
});

test('what takes too long again ends the attempts again', async () => {
  open({ probe: async () => 'PONG' });
  for (const n of [1, 2, 3]) {
    await expect(breaker.attempt(never)).rejects.toThrow(late);
    await eventually(() => expect(changes).toHaveLength(2 * n));
  }
});

test('an answer that came while this process was busy is not late', async () => {
  open();
  const answer = breaker.attempt(() => new Promise((resolve) => setImmediate(() => resolve('done'))));
  const until = performance.now() + 60;
  while (performance.now() < until);
  expect(await answer).toBe('done');
  expect(changes).toEqual([]);
});

test('when it is stopped it probes no more', async () => {
  let probes = 0;
  const probe = () => {
    probes++;
    return Promise.reject(new Error('closed'));
  };
  open({ probe });
  await expect(breaker.attempt(never)).rejects.toThrow(late);
  await eventually(() => expect(probes).toBeGreaterThan(1));
  breaker.stop();
  const before = probes;
  await sleep(100);
  expect(probes).toBe(before);
});
