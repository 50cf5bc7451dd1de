import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { createHints } from '../src/hints.ts';

test('the first hint is sent at once, and one more for all that are given during its pause', async () => {
  const sent: string[] = [];
  const hints = createHints(async (name) => void sent.push(name), 100);
  for (let n = 0; n < 1_000; n++) hints.give('relay');
  hints.give('job');
  expect(sent).toEqual(['relay', 'job']);
  await eventually(() => expect(sent).toEqual(['relay', 'job', 'relay']));
  await hints.stop();
  expect(sent).toHaveLength(3);
});

test('after its pause a name is sent at once again', async () => {
  const sent: string[] = [];
  const hints = createHints(async (name) => void sent.push(name), 10);
  hints.give('relay');
  await hints.stop();
  hints.give('relay');
  expect(sent).toEqual(['relay', 'relay']);
});

test('a hint that cannot be sent is lost, and the next is sent', async () => {
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

test('only one hint of a name is sent at a time, so that they do not pile up waiting for a connection', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let inProgress = 0;
  let most = 0;
  let count = 0;
  const send = async () => {
    count++;
    most = Math.max(most, ++inProgress);
    await promise;
    inProgress--;
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
