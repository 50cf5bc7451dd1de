import { Problem } from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { createAttemptGate } from '../src/attempt-gate.ts';
import { range } from './support.ts';

const key = 'a client';
const crowded = () => new Problem('rate-limited', 'crowded');
const refused = () => new Problem('rate-limited', 'none left');

/** All that can happen without the outside world has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A gate, and attempts that may fail a number of times in all. */
function open(limit: number) {
  const gate = createAttemptGate();
  let failures = 0;
  let inHand = 0;
  let most = 0;
  const leaves: (() => void)[] = [];
  const left = async () => {
    await settled(); // As a look into Redis: others go on meanwhile.
    if (failures >= limit) throw refused();
    return limit - failures;
  };
  return {
    async enter() {
      const leave = await gate.enter(key, left, crowded);
      most = Math.max(most, ++inHand);
      leaves.push(() => {
        inHand--;
        leave();
      });
    },
    /** Judges the attempt that has been in hand longest. */
    judge(verdict: 'good' | 'bad') {
      if (verdict === 'bad') failures++;
      leaves.shift()?.();
    },
    leaves,
    most: () => most,
  };
}

/** Judges whatever is in hand until all attempts are through or refused. */
async function judgeAll(
  door: ReturnType<typeof open>,
  attempts: Promise<void>[],
  verdict: (n: number) => 'good' | 'bad',
) {
  let judged = 0;
  let done = false;
  const outcomes = Promise.allSettled(attempts).finally(() => (done = true));
  while (!done || door.leaves.length > 0) {
    await settled();
    if (door.leaves.length > 0) door.judge(verdict(judged++));
  }
  const all = await outcomes;
  return {
    passed: all.filter(({ status }) => status === 'fulfilled').length,
    refused: all.filter(({ status }) => status === 'rejected').length,
  };
}

test('as many are in hand at once as may still fail, and all that do not fail get through', async () => {
  const door = open(10);
  const found = await judgeAll(
    door,
    range(80).map(() => door.enter()),
    () => 'good',
  );
  expect(found).toEqual({ passed: 80, refused: 0 });
  expect(door.most()).toBe(10);
});

test('of any number at once no more are let in than may fail, where all fail', async () => {
  for (const limit of [1, 2, 10]) {
    const door = open(limit);
    expect(
      await judgeAll(
        door,
        range(60).map(() => door.enter()),
        () => 'bad',
      ),
    ).toEqual({ passed: limit, refused: 60 - limit });
  }
});

test('where some fail, the failures never exceed the limit and nobody waits for ever', async () => {
  for (const every of [2, 3, 7]) {
    const door = open(10);
    let failed = 0;
    const { passed, refused } = await judgeAll(
      door,
      range(100).map(() => door.enter()),
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

test('an attempt that asks while the only other one leaves is let in: nobody else will wake it', async () => {
  const gate = createAttemptGate();
  const answers: ((left: number) => void)[] = [];
  const left = () => new Promise<number>((resolve) => answers.push(resolve));
  const first = gate.enter(key, left, crowded);
  answers.shift()?.(1);
  const leave = await first;
  const second = gate.enter(key, left, crowded);
  leave();
  answers.shift()?.(1);
  await settled();
  answers.shift()?.(1); // It may ask again, since somebody has left.
  await expect(second).resolves.toBeInstanceOf(Function);
});

test('an answer that is older than a failure lets nobody in', async () => {
  const gate = createAttemptGate();
  const enter = (left: () => Promise<number>) => gate.enter(key, left, crowded);
  const [one, two] = await Promise.all([enter(async () => 3), enter(async () => 3)]);
  const late = Promise.withResolvers<number>();
  const looks = [() => late.promise, async () => 1];
  let entered = false;
  const third = enter(() => (looks.shift() as () => Promise<number>)()).then(() => (entered = true));
  one(); // It has failed, and so has another elsewhere: one is left, and that one is in hand.
  late.resolve(2);
  await settled();
  expect(entered).toBe(false);
  looks.push(async () => 1);
  two();
  await third;
});

test('a refused attempt passes the turn on, so that all who wait are refused too', async () => {
  const gate = createAttemptGate();
  let none = false;
  const left = async () => {
    if (none) throw refused();
    return 1;
  };
  const leave = await gate.enter(key, left, crowded);
  const waiting = range(30).map(() => gate.enter(key, left, crowded));
  await settled();
  none = true;
  leave();
  for (const attempt of waiting) await expect(attempt).rejects.toThrow('none left');
});

test('a hundred wait at most; one more is refused at once, and its place is free again', async () => {
  const gate = createAttemptGate();
  const enter = () => gate.enter(key, async () => 1, crowded);
  const leave = await enter();
  const waiting = range(100).map(enter);
  await settled();
  await expect(enter()).rejects.toThrow('crowded');
  leave();
  for (const attempt of waiting) (await attempt)();
  await expect(enter()).resolves.toBeInstanceOf(Function);
});

test('clients do not wait for one another', async () => {
  const gate = createAttemptGate();
  await gate.enter(key, async () => 1, crowded);
  await expect(gate.enter('another', async () => 1, crowded)).resolves.toBeInstanceOf(Function);
});
