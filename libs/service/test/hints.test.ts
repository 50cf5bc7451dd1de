import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { createHints } from '../src/hints.ts';

test('the first hint is passed on at once, and one more for all that are given within its pause', async () => {
  const passed: string[] = [];
  const hints = createHints(async (name) => void passed.push(name), 100);
  for (let n = 0; n < 1_000; n++) hints.give('relay');
  hints.give('job');
  expect(passed).toEqual(['relay', 'job']);
  await eventually(() => expect(passed).toEqual(['relay', 'job', 'relay']));
  await hints.stop();
  expect(passed).toHaveLength(3);
});

test('after its pause a name is passed on at once again', async () => {
  const passed: string[] = [];
  const hints = createHints(async (name) => void passed.push(name), 10);
  hints.give('relay');
  await hints.stop();
  hints.give('relay');
  expect(passed).toEqual(['relay', 'relay']);
});

test('one that cannot be passed on is lost, and the next is not', async () => {
  let attempts = 0;
  const hints = createHints(async () => {
    attempts++;
    throw new Error('no connection');
  }, 5);
  hints.give('relay');
  await hints.stop();
  hints.give('relay');
  await hints.stop();
  expect(attempts).toBe(2);
});

test('while one is on its way no other of its name is: what waits for a connection does not pile up', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let underWay = 0;
  let most = 0;
  let count = 0;
  const send = async () => {
    count++;
    most = Math.max(most, ++underWay);
    await promise;
    underWay--;
  };
  const hints = createHints(send, 1);
  for (let n = 0; n < 10; n++) {
    hints.give('relay');
    await sleep(2);
  }
  expect(count).toBe(1);
  resolve();
  await hints.stop();
  expect({ most, count }).toEqual({ most: 1, count: 2 });
});
