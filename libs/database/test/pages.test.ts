import { Problem } from '@attribution/contracts';
import { describe, expect, test } from '@jest/globals';
import { cursorScope, cutPage, readCursor } from '../src/index.ts';

const scope = cursorScope('list_things', { status: 'draft' });

/** The cursor of a page that ends at the position. */
function cursorAt(...position: (string | number)[]): string {
  const { next_cursor } = cutPage([0, 1], { limit: 1, scope, position: () => position, view: (row) => row });
  return next_cursor ?? '';
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const refused = new Problem('validation-error', 'query.cursor: is not a next_cursor of this list with these filters.');

describe('a page of rows', () => {
  const rows = [1, 2, 3, 4, 5];
  const cut = (given: number[], limit: number) =>
    cutPage(given, { limit, scope, position: (row) => [row], view: (row) => row });

  test('that is not the last is cut to the limit, and its cursor points to its last row', () => {
    const page = cut(rows.slice(0, 4), 3);
    expect(page.entries).toEqual([1, 2, 3]);
    expect(readCursor(page.next_cursor ?? '', scope, ['integer'])).toEqual([3]);
  });

  test('that is the last and exactly full has no cursor', () => {
    expect(cut(rows, 5)).toEqual({ entries: rows, next_cursor: null });
  });

  test('that is short or empty has no cursor', () => {
    expect(cut(rows, 6)).toEqual({ entries: rows, next_cursor: null });
    expect(cut([], 6)).toEqual({ entries: [], next_cursor: null });
  });

  test('and its successors, followed by their cursors, contain each row once', () => {
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const [after = 0] = readCursor(cursor ?? undefined, scope, ['integer']) ?? [];
      const page = cut(rows.filter((row) => row > after).slice(0, 3), 2);
      seen.push(...page.entries);
      cursor = page.next_cursor;
    } while (cursor);
    expect(seen).toEqual(rows);
  });
});

describe('a page of large rows', () => {
  const read = (lengths: readonly number[], limit: number) => {
    const rows = lengths.map((length, row) => ({ row, text: 'ü'.repeat(length / 2) }));
    return cutPage(rows, { limit, scope, position: ({ row }) => [row], view: (row) => row });
  };

  test('has at most 1 MiB, and its cursor points to its last row', () => {
    const page = read(Array(200).fill(10_000), 199);
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(1_048_576);
    expect(page.entries.length).toBeGreaterThan(100);
    expect(readCursor(page.next_cursor ?? '', scope, ['integer'])).toEqual([page.entries.length - 1]);
  });

  test('has a row that is larger than that by itself', () => {
    expect(read([2_000_000, 2], 2).entries).toHaveLength(1);
    expect(read([2_000_000, 2], 2).next_cursor).not.toBeNull();
    expect(read([2, 2_000_000, 2], 3).entries).toHaveLength(1);
    expect(read([2_000_000], 2)).toMatchObject({ next_cursor: null });
  });
});

describe('a cursor', () => {
  test('is read as the position that it was made from, for any text', () => {
    for (const text of ['grp_1', '', 'Zürich 🏬', '"],[', 'x'.repeat(200)]) {
      expect(readCursor(cursorAt(text, 42), scope, ['string', 'integer'])).toEqual([text, 42]);
    }
  });

  test('that is undefined is no position', () => {
    expect(readCursor(undefined, scope, ['string'])).toBeUndefined();
  });

  test('has only characters that need no encoding in a URL', () => {
    expect(cursorAt('ÿÿÿ???>>>', 1)).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  test.each([
    ['another list', cursorScope('list_others', { status: 'draft' })],
    ['other filters', cursorScope('list_things', { status: 'published' })],
    ['no filters', cursorScope('list_things')],
  ])('400: of %s is refused', (_what, other) => {
    expect(() => readCursor(cursorAt('a'), other, ['string'])).toThrow(refused);
  });

  test('is valid with another limit, and if a filter is undefined', () => {
    const filters = { status: 'draft', query: undefined, limit: 3, cursor: 'c' };
    expect(readCursor(cursorAt('a'), cursorScope('list_things', filters), ['string'])).toEqual(['a']);
  });

  test.each<[string, unknown]>([
    ['a number for text', [scope, 1]],
    ['null for text', [scope, null]],
    ['a list for text', [scope, ['a']]],
    ['an object for text', [scope, { a: 1 }]],
    ['a NUL in the text', [scope, 'a\0b']],
    ['text that is longer than any key', [scope, 'x'.repeat(201)]],
    ['an additional value', [scope, 'a', 'b']],
    ['a missing value', [scope]],
    ['no scope', ['a']],
    ['an object for the list', { 0: scope, 1: 'a' }],
    ['a text for the list', scope],
    ['null', null],
    ['a number', 7],
  ])('400: with %s is refused', (_what, value) => {
    expect(() => readCursor(encoded(value), scope, ['string'])).toThrow(refused);
  });

  test('400: with half of a surrogate pair in its text is refused', () => {
    const cursor = Buffer.from(`["${scope}","a\\ud83d"]`).toString('base64url');
    expect(() => readCursor(cursor, scope, ['string'])).toThrow(refused);
  });

  test.each(['1', 1.5, 2 ** 53, -(2 ** 53), true, null])('400: with %p for a whole number is refused', (value) => {
    expect(() => readCursor(encoded([scope, value]), scope, ['integer'])).toThrow(refused);
  });

  test.each(['1', 1.5, -1, 8.64e15, true, null])('400: with %p for a time is refused', (value) => {
    expect(() => readCursor(encoded([scope, value]), scope, ['time'])).toThrow(refused);
  });

  test('can contain a time or a bare UUID', () => {
    const id = '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';
    expect(readCursor(cursorAt(1_741_000_000_000, id), scope, ['time', 'uuid'])).toEqual([1_741_000_000_000, id]);
  });

  test.each(['', 'x', '01968f3e7a4b7cc19f6e3a5b2c1d0e4f', '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f ', 7, null])(
    '400: with %p for a UUID is refused',
    (value) => {
      expect(() => readCursor(encoded([scope, value]), scope, ['uuid'])).toThrow(refused);
    },
  );

  test('400: is refused if it is truncated', () => {
    const cursor = cursorAt('grp_01968f3e', 7);
    for (let length = 0; length < cursor.length; length++) {
      expect(() => readCursor(cursor.slice(0, length), scope, ['string', 'integer'])).toThrow(refused);
    }
  });

  test.each(['=', ' ', '!', '\n', '.', 'A'])(
    '400: with %j added is refused, at the start, within and at the end',
    (added) => {
      const cursor = cursorAt('a');
      const half = cursor.length / 2;
      for (const changed of [added + cursor, cursor.slice(0, half) + added + cursor.slice(half), cursor + added]) {
        expect(() => readCursor(changed, scope, ['string'])).toThrow(refused);
      }
    },
  );

  test.each(['', 'abc', '%00', '🏬', '[]', encoded([]), Buffer.from('[1e999]').toString('base64url')])(
    '400: of %j is refused',
    (cursor) => {
      expect(() => readCursor(cursor, scope, ['string'])).toThrow(refused);
    },
  );
});
