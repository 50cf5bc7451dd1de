import { id } from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { newId, newUuid } from '../src/index.ts';

test('a new id is valid for the schema of its kind', () => {
  expect(id('campaign').safeParse(newId('campaign')).success).toBe(true);
});

test('ids of one kind sort by the order in which they were made', () => {
  const made = Array.from({ length: 2_000 }, () => newId('campaign'));
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

test('an id contains its millisecond, and sorts after ids of earlier ones', () => {
  const before = Date.now();
  const made = newUuid();
  const carried = Number.parseInt(made.replaceAll('-', '').slice(0, 12), 16);
  expect(carried).toBeGreaterThanOrEqual(before);
  expect(carried).toBeLessThanOrEqual(Date.now());
});
