import { expect, test } from '@jest/globals';
import { createBatches, type StagedRow, type StagedRows } from '../src/imports/batches.ts';

const rowOf = (row: number, unit: number, kind: StagedRow['kind'] = 'screen'): StagedRow => ({
  ...{ row, unit, kind, external_id: `${kind} ${row}`, parent: null },
  fields: {},
});

/** Adds rows to batches, and takes them after every `each`. */
function takeAll(rows: readonly StagedRow[], each: number): StagedRows[] {
  const batches = createBatches();
  const taken: StagedRows[] = [];
  for (const [at, row] of rows.entries()) {
    batches.add(row);
    if ((at + 1) % each === 0) taken.push(...batches.take());
  }
  return [...taken, ...batches.take()];
}

/** The batches that have rows of each unit. */
function batchesByUnit(taken: readonly StagedRows[]): Map<number, Set<number>> {
  const byUnit = new Map<number, Set<number>>();
  for (const { batch, rows } of taken)
    for (const { unit } of rows) byUnit.set(unit, (byUnit.get(unit) ?? new Set()).add(batch));
  return byUnit;
}

const locations = (count: number, rows: number) =>
  Array.from({ length: count * rows }, (_, at) => rowOf(at, Math.floor(at / rows) * rows));
/** Rows of all locations by turns, as in a file that lists all locations before their zones. */
const byKind = (count: number, rows: number) => Array.from({ length: count * rows }, (_, at) => rowOf(at, at % count));

test.each([
  ['location by location', locations(200, 20)],
  ['kind by kind', byKind(200, 20)],
])(
  'in a file that is ordered %s, each row is taken once, in the order of its unit, and each unit is in one batch',
  (_, rows) => {
    for (const each of [1, 7, 1_000, 10_000]) {
      const taken = takeAll(rows, each);
      expect(new Set(taken.map(({ batch, sequence }) => `${batch} ${sequence}`)).size).toBe(taken.length);
      for (const { size, rows: own } of taken) expect(own).toHaveLength(size);
      for (const batches of batchesByUnit(taken).values()) expect(batches.size).toBe(1);
      const ordered = taken
        .toSorted((a, b) => a.batch - b.batch || a.sequence - b.sequence)
        .flatMap(({ rows: own }) => own);
      for (const own of Map.groupBy(ordered, ({ unit }) => unit).values())
        expect(own.map(({ row }) => row)).toEqual(own.map(({ row }) => row).toSorted((a, b) => a - b));
      expect(new Set(ordered)).toEqual(new Set(rows));
      expect(ordered).toHaveLength(rows.length);
    }
  },
);

test('a batch takes up to eight locations, and no further one once it is full', () => {
  const sizes = (rows: readonly StagedRow[]) => [...Map.groupBy(takeAll(rows, 100_000), ({ batch }) => batch).values()];
  const unitsOf = (taken: readonly StagedRows[]) =>
    new Set(taken.flatMap(({ rows }) => rows.map(({ unit }) => unit))).size;
  expect(sizes(byKind(200, 20)).map(unitsOf)).toEqual(Array.from({ length: 25 }, () => 8));
  expect(sizes(locations(30, 500)).map(unitsOf)).toEqual(Array.from({ length: 30 }, () => 1));
});

test('a group is a batch of its own, with what the file calls it', () => {
  const batches = createBatches();
  for (const row of [rowOf(2, 2, 'group'), rowOf(3, 3, 'location'), rowOf(4, 4, 'group')]) batches.add(row);
  expect(batches.take().map(({ groups, batch, ref }) => [groups, batch, ref])).toEqual([
    [true, 2, 'group 2'],
    [true, 4, 'group 4'],
    [false, 0, null],
  ]);
  expect(batches.take()).toEqual([]);
});
