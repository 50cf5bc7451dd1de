import { expect, test } from '@jest/globals';
import { createBatches, type StagedRows, type StagedRow } from '../src/imports/batches.ts';

const rowOf = (row: number, unit: number, kind: StagedRow['kind'] = 'screen'): StagedRow => ({
  ...{ row, unit, kind, external_id: `${kind} ${row}`, parent: null },
  fields: {},
});

/** What comes of rows that are taken after each so many. */
function slicesOf(rows: readonly StagedRow[], each: number): StagedRows[] {
  const lots = createBatches();
  const pieces: StagedRows[] = [];
  for (const row of rows) {
    lots.add(row);
    if (lots.gathered >= each) pieces.push(...lots.take());
  }
  return [...pieces, ...lots.take()];
}

/** Units by the lots that they lie in. */
function lotsOf(pieces: readonly StagedRows[]): Map<number, Set<number>> {
  const byUnit = new Map<number, Set<number>>();
  for (const { lot, rows } of pieces)
    for (const { unit } of rows) byUnit.set(unit, (byUnit.get(unit) ?? new Set()).add(lot));
  return byUnit;
}

const shops = (count: number, rows: number) =>
  Array.from({ length: count * rows }, (_, at) => rowOf(at, Math.floor(at / rows) * rows));
/** All locations before what is in them. */
const byKind = (count: number, rows: number) => Array.from({ length: count * rows }, (_, at) => rowOf(at, at % count));

test.each([
  ['shop by shop', shops(200, 20)],
  ['kind by kind', byKind(200, 20)],
])('a file that goes %s: each row comes out once, in the order of its unit, and each unit in one lot', (_, rows) => {
  for (const each of [1, 7, 1_000, 10_000]) {
    const pieces = slicesOf(rows, each);
    expect(new Set(pieces.map(({ lot, piece }) => `${lot} ${piece}`)).size).toBe(pieces.length);
    for (const { size, rows: own } of pieces) expect(own).toHaveLength(size);
    for (const lots of lotsOf(pieces).values()) expect(lots.size).toBe(1);
    const ordered = pieces.toSorted((a, b) => a.lot - b.lot || a.piece - b.piece).flatMap((piece) => piece.rows);
    for (const own of Map.groupBy(ordered, ({ unit }) => unit).values())
      expect(own.map(({ row }) => row)).toEqual(own.map(({ row }) => row).toSorted((a, b) => a - b));
    expect(new Set(ordered)).toEqual(new Set(rows));
    expect(ordered).toHaveLength(rows.length);
  }
});

test('a lot takes some locations, and none behind one that fills it', () => {
  const sizes = (rows: readonly StagedRow[]) => [...Map.groupBy(slicesOf(rows, 100_000), ({ lot }) => lot).values()];
  const unitsOf = (pieces: readonly StagedRows[]) =>
    new Set(pieces.flatMap(({ rows }) => rows.map(({ unit }) => unit))).size;
  expect(sizes(byKind(200, 20)).map(unitsOf)).toEqual(Array.from({ length: 25 }, () => 8));
  expect(sizes(shops(30, 500)).map(unitsOf)).toEqual(Array.from({ length: 30 }, () => 1));
});

test('a group is a lot by itself, found by what the file calls it', () => {
  const lots = createBatches();
  for (const row of [rowOf(2, 2, 'group'), rowOf(3, 3, 'location'), rowOf(4, 4, 'group')]) lots.add(row);
  expect(lots.take().map(({ groups, lot, ref }) => [groups, lot, ref])).toEqual([
    [true, 2, 'group 2'],
    [true, 4, 'group 4'],
    [false, 0, null],
  ]);
  expect([lots.gathered, lots.take()]).toEqual([0, []]);
});
