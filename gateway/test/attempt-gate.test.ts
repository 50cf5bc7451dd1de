import { Problem } from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { createAttemptGate } from '../src/attempt-gate.ts';
import { range } from './support.ts';

const key = 'a client';
const tooMany = () => new Problem('rate-limited', 'too many waiting');
const refused = () => new Problem('rate-limited', 'none left');

/** Resolves when everything has happened that needs no I/O. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A gate whose attempts may fail `limit` times in total. */
function open(limit: number) {
  const gate = createAttemptGate();
  let failures = 0;
  let inProgress = 0;
  let maximum = 0;
  const leaves: (() => void)[] = [];
  const remaining = async () => {
    await settled(); // Like a read from Redis: other attempts continue meanwhile.
    if (failures >= limit) throw refused();
    return limit - failures;
  };
  return {
    async enter() {
      const leave = await gate.enter(key, remaining, tooMany);
      maximum = Math.max(maximum, ++inProgress);
      leaves.push(() => {
        inProgress--;
        leave();
      });
    },
    /** Finishes the attempt that has been in progress longest. */
    finish(result: 'good' | 'bad') {
      if (result === 'bad') failures++;
      leaves.shift()?.();
    },
    leaves,
    maximum: () => maximum,
  };
}

/** Finishes the attempts in progress until all are finished or refused. */
async function finishAll(
  lane: ReturnType<typeof open>,
  attempts: Promise<void>[],
  resultOf: (n: number) => 'good' | 'bad',
) {
  let finished = 0;
  let done = false;
  const outcomes = Promise.allSettled(attempts).finally(() => (done = true));
  while (!done || lane.leaves.length > 0) {
    await settled();
    if (lane.leaves.length > 0) lane.finish(resultOf(finished++));
  }
  const all = await outcomes;
  return {
    passed: all.filter(({ status }) => status === 'fulfilled').length,
    refused: all.filter(({ status }) => status === 'rejected').length,
  };
}

test('as many attempts are in progress as may still fail, and all that succeed get through', async () => {
  const lane = open(10);
  const found = await finishAll(
    lane,
    range(80).map(() => lane.enter()),
    () => 'good',
  );
  expect(found).toEqual({ passed: 80, refused: 0 });
  expect(lane.maximum()).toBe(10);
});

test('when all attempts fail, no more are admitted than may fail', async () => {
  for (const limit of [1, 2, 10]) {
    const lane = open(limit);
    expect(
      await finishAll(
        lane,
        range(60).map(() => lane.enter()),
        () => 'bad',
      ),
    ).toEqual({ passed: limit, refused: 60 - limit });
  }
});

test('when some attempts fail, the failures never exceed the limit and no attempt waits for ever', async () => {
  for (const every of [2, 3, 7]) {
    const lane = open(10);
    let failed = 0;
    const { passed, refused } = await finishAll(
      lane,
      range(100).map(() => lane.enter()),
      (n) => {
        if (n % every !== 0) return 'good';
        failed++;
        return 'bad';
      },
    );
    expect(failed).toBe(10);
    expect(passed + refused).toBe(100);
  }
});

test('an attempt that reads the count while the only other one leaves is admitted: no other would wake it', async () => {
  const gate = createAttemptGate();
  const reads: ((remaining: number) => void)[] = [];
  const remaining = () => new Promise<number>((resolve) => reads.push(resolve));
  const first = gate.enter(key, remaining, tooMany);
  reads.shift()?.(1);
  const leave = await first;
  const second = gate.enter(key, remaining, tooMany);
  leave();
  reads.shift()?.(1);
  await settled();
  reads.shift()?.(1); // It may read again, because another attempt has left.
  await expect(second).resolves.toBeInstanceOf(Function);
});

test('a count that was read before a failure admits no attempt', async () => {
  const gate = createAttemptGate();
  const enter = (remaining: () => Promise<number>) => gate.enter(key, remaining, tooMany);
  const [one, two] = await Promise.all([enter(async () => 3), enter(async () => 3)]);
  const late = Promise.withResolvers<number>();
  const reads = [() => late.promise, async () => 1];
  let entered = false;
  const third = enter(() => (reads.shift() as () => Promise<number>)()).then(() => (entered = true));
  one(); // It failed, and so did one at another gateway: one more may fail, and that one is in progress.
  late.resolve(2);
  await settled();
  expect(entered).toBe(false);
  reads.push(async () => 1);
  two();
  await third;
});

test('a refused attempt wakes the next, so that all waiting attempts are refused too', async () => {
  const gate = createAttemptGate();
  let exhausted = false;
  const remaining = async () => {
    if (exhausted) throw refused();
    return 1;
  };
  const leave = await gate.enter(key, remaining, tooMany);
  const waiting = range(30).map(() => gate.enter(key, remaining, tooMany));
  await settled();
  exhausted = true;
  leave();
  for (const attempt of waiting) await expect(attempt).rejects.toThrow('none left');
});

test('a hundred attempts may wait; one more is refused immediately and leaves no trace', async () => {
  const gate = createAttemptGate();
  const enter = () => gate.enter(key, async () => 1, tooMany);
  const leave = await enter();
  const waiting = range(100).map(enter);
  await settled();
  await expect(enter()).rejects.toThrow('too many waiting');
  leave();
  for (const attempt of waiting) (await attempt)();
  await expect(enter()).resolves.toBeInstanceOf(Function);
});

test('attempts of different clients do not wait for each other', async () => {
  const gate = createAttemptGate();
  await gate.enter(key, async () => 1, tooMany);
  await expect(gate.enter('another', async () => 1, tooMany)).resolves.toBeInstanceOf(Function);
});
