import { expect, test } from '@jest/globals';
import { clockOffset, correctedInterval } from '../src/clock/offset.ts';
import { quarantineReason } from '../src/clock/quarantine.ts';

const received = Date.parse('2026-11-20T12:00:00Z');
const second = 1000;
const day = 86_400_000;

test.each([
  [15, false, 0, -75, -45],
  [15, true, 0, -75, -45],
  [30, false, 0, -90, -60],
  [3600, false, 3600, -60, -30],
  [3600, true, 0, -3660, -3630],
  [-300, false, -300, -60, -30],
  [-300, true, -300, -60, -30],
  [-20, false, 0, -40, -10],
  [-30, true, 0, -30, 0],
])('a batch sent %d s before it came, with a right clock: %s, is moved by %d s', (behind, synced, offset, from, to) => {
  const sent = received - behind * second;
  expect(clockOffset(received, sent, synced)).toBe(offset * second);
  const item = { start: sent - 60 * second, end: sent - 30 * second };
  expect(correctedInterval(item, offset * second, received)).toEqual({
    start: received + from * second,
    end: received + to * second,
  });
});

test('beyond 30 s a millisecond decides', () => {
  expect(clockOffset(received, received - 30_001, false)).toBe(30_001);
  expect(clockOffset(received, received + 30_001, true)).toBe(-30_001);
  expect(clockOffset(received, received + 30_000, false)).toBe(0);
});

test('what has yet to come ends when it was received', () => {
  const open = { start: received - second, end: received + day };
  expect(correctedInterval(open, 0, received)).toEqual({ start: received - second, end: received });
});

test.each([
  ['future', received, received],
  ['too_long', received - day - 1, received],
  [undefined, received - day, received],
  ['too_long', received - 200 * day, received - 100 * day],
  ['too_old', received - 90 * day - 1, received - 90 * day],
  [undefined, received - 90 * day, received - 90 * day + 1],
])('an item is kept out for the first reason that there is: %s', (reason, start, end) => {
  expect(quarantineReason({ start, end }, received)).toBe(reason);
});
