import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { DataPage, Page, pageQuery } from '../src/index.ts';

const query = z.object(pageQuery);
const messageOf = (given: object) => query.safeParse(given).error?.issues[0]?.message;

test('limit is 1 to 200, and 50 when it is left out', () => {
  expect(query.parse({})).toEqual({ limit: 50 });
  expect(query.parse({ limit: '1' }).limit).toBe(1);
  expect(query.parse({ limit: '200' }).limit).toBe(200);
});

test.each([
  ['0', 'must be at least 1'],
  ['201', 'must be at most 200'],
  ['999999', 'must be at most 200'],
])('a limit of %s is refused, and the error names the bound', (limit, message) => {
  expect(messageOf({ limit })).toBe(message);
});

test.each(['', ' 5', '5 ', '-1', '+5', '1.5', '1e2', '0x10', 'ten', '٥', '5,6', '1234567', 'NaN'])(
  'a limit of %j is not a whole number',
  (limit) => {
    expect(messageOf({ limit })).toBe('must be a whole number from 1 to 200');
  },
);

test('a cursor has 1 to 1024 characters; an empty one is refused rather than read as the first page', () => {
  expect(query.parse({ cursor: 'c'.repeat(1024) }).cursor).toHaveLength(1024);
  expect(messageOf({ cursor: '' })).toBe('must be the next_cursor of the page before');
  expect(query.safeParse({ cursor: 'c'.repeat(1025) }).success).toBe(false);
});

test('a page has its rows under `entries`, the campaigns alone under `data`, and always a next_cursor', () => {
  const rows = [1, 2];
  expect(Page(z.int()).parse({ entries: rows, next_cursor: null })).toEqual({ entries: rows, next_cursor: null });
  expect(DataPage(z.int()).parse({ data: rows, next_cursor: 'c' })).toEqual({ data: rows, next_cursor: 'c' });
  for (const page of [{ entries: rows }, { data: rows, next_cursor: null }, { entries: ['a'], next_cursor: null }]) {
    expect(Page(z.int()).safeParse(page).success).toBe(false);
  }
});
