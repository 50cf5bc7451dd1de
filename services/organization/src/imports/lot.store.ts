import type { Sql } from '@attribution/database';
import { AnotherAtWork } from './import.store.ts';
import type { Piece, StagedRow } from './lots.ts';

// The rows of imports that are to be set up, and which units are. These tables fill and empty by tens of thousands, and
// what the planner knows of them is of another time: all that is asked for is a range of numbers, or one name after the
// other, which no plan turns into a comparison of everything with everything.

/** Throws where another has put the same there. */
export async function insertPieces(tx: Sql, importId: string, pieces: readonly Piece[]): Promise<void> {
  const inserted = await tx.$executeRaw`
    INSERT INTO estate_import_lots (import_id, groups, lot, piece, ref, size, rows)
    SELECT ${importId}, p.* FROM json_to_recordset(${JSON.stringify(pieces)}::json)
      AS p (groups bool, lot int, piece int, ref text, size int, rows json)
    ON CONFLICT DO NOTHING`;
  if (inserted !== pieces.length) throw new AnotherAtWork();
}

/** Where a look at what is to be done begins: groups, or all else, behind a lot. */
export interface After {
  readonly groups: boolean;
  readonly lot: number;
}

export interface Lot {
  readonly lot: number;
  readonly rows: readonly StagedRow[];
}

/** Lots in their order, as many as have `atMost` rows together; one at least where any is left. */
export async function findLots(db: Sql, importId: string, after: After, atMost: number): Promise<Lot[]> {
  const pieces = await db.$queryRaw<{ lot: number; rows: StagedRow[] }[]>`
    WITH sizes AS (
      SELECT lot, sum(size) AS size FROM (
        SELECT lot, size FROM estate_import_lots
        WHERE import_id = ${importId} AND groups = ${after.groups} AND lot > ${after.lot}
        ORDER BY lot, piece LIMIT ${atMost}) AS few
      GROUP BY lot
    ), chosen AS (
      SELECT lot FROM (SELECT lot, sum(size) OVER (ORDER BY lot) AS until, size FROM sizes) AS running
      WHERE until <= ${atMost} OR until = size
    )
    SELECT lot, rows FROM estate_import_lots
    WHERE import_id = ${importId} AND groups = ${after.groups} AND lot > ${after.lot}
      AND lot <= (SELECT max(lot) FROM chosen)
    ORDER BY lot, piece`;
  return Array.from(
    Map.groupBy(pieces, ({ lot }) => lot),
    ([lot, own]) => ({ lot, rows: own.flatMap(({ rows }) => rows) }),
  );
}

/** How many rows lie in lots. */
export async function countStaged(tx: Sql, importId: string): Promise<number> {
  const [found] = await tx.$queryRaw<{ count: number }[]>`
    SELECT coalesce(sum(size), 0)::int AS count FROM estate_import_lots WHERE import_id = ${importId}`;
  return found?.count ?? 0;
}

/** Forgets lots, from one to another, but for those to be kept. */
export async function deleteLots(
  db: Sql,
  importId: string,
  { groups, from, to, kept }: { groups: boolean; from: number; to: number; kept: readonly number[] },
): Promise<void> {
  await db.$executeRaw`
    DELETE FROM estate_import_lots
    WHERE import_id = ${importId} AND groups = ${groups} AND lot BETWEEN ${from} AND ${to} AND lot <> ALL(${kept}::int[])`;
}

/** The file's rows of these groups, as far as nothing was wrong with them by themselves. */
export async function findGroupRows(tx: Sql, importId: string, refs: readonly string[]): Promise<StagedRow[]> {
  const found = await tx.$queryRaw<{ rows: StagedRow[] }[]>`
    SELECT l.rows FROM unnest(${refs}::text[]) AS given (ref)
    CROSS JOIN LATERAL (
      SELECT x.rows FROM estate_import_lots x
      WHERE x.import_id = ${importId} AND x.ref >= given.ref AND x.ref <= given.ref ORDER BY x.ref LIMIT 1) l`;
  return found.flatMap(({ rows }) => rows);
}

/** Notes units as done, until the commit or for good. Throws where another has done one of them. */
export async function closeUnits(tx: Sql, importId: string, units: readonly number[]): Promise<void> {
  const closed = await tx.$executeRaw`
    INSERT INTO estate_import_units (import_id, unit)
    SELECT ${importId}, unit FROM unnest(${units}::int[]) AS unit ORDER BY unit ON CONFLICT DO NOTHING`;
  if (closed !== units.length) throw new AnotherAtWork();
}

/** Which of these units are done. */
export async function findClosed(db: Sql, importId: string, units: readonly number[]): Promise<Set<number>> {
  const [from, to] = spanOf(units);
  const found = await db.$queryRaw<{ unit: number }[]>`
    SELECT unit FROM estate_import_units WHERE import_id = ${importId} AND unit BETWEEN ${from} AND ${to}`;
  return new Set(found.map(({ unit }) => unit));
}

/** From the lowest of some numbers to the highest. */
export function spanOf(numbers: readonly number[]): readonly [from: number, to: number] {
  return [
    numbers.reduce((least, one) => Math.min(least, one), 0x7fffffff),
    numbers.reduce((most, one) => Math.max(most, one), -1),
  ];
}

/** Forgets some of an import's lots: how many pieces. */
export async function deleteSomeLots(db: Sql, importId: string, limit: number): Promise<number> {
  let deleted = 0;
  for (const groups of [false, true])
    deleted += await db.$executeRaw`
      DELETE FROM estate_import_lots WHERE import_id = ${importId} AND groups = ${groups} AND lot < ${limit} + (
        SELECT min(lot) FROM estate_import_lots WHERE import_id = ${importId} AND groups = ${groups})`;
  return deleted;
}

/** Forgets which units are done: of an import that is over. */
export async function deleteUnits(tx: Sql, importId: string): Promise<void> {
  await tx.$executeRaw`DELETE FROM estate_import_units WHERE import_id = ${importId}`;
}
