import type { Sql } from '@attribution/database';
import { AnotherAtWork } from './import.store.ts';
import type { Piece, StagedRow } from './lots.ts';

/** The rows of imports that are to be set up, and which units are. */

export async function insertPieces(tx: Sql, importId: string, pieces: readonly Piece[]): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO estate_import_lots (import_id, groups, lot, piece, ref, size, rows)
    SELECT ${importId}, p.* FROM json_to_recordset(${JSON.stringify(pieces)}::json)
      AS p (groups bool, lot int, piece int, ref text, size int, rows json)`;
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
    SELECT l.lot, l.rows FROM chosen JOIN estate_import_lots l
      ON l.import_id = ${importId} AND l.groups = ${after.groups} AND l.lot = chosen.lot
    ORDER BY l.lot, l.piece`;
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

/** Lots of which nothing is left to do. */
export async function deleteLots(db: Sql, importId: string, groups: boolean, lots: readonly number[]): Promise<void> {
  if (lots.length === 0) return;
  await db.$executeRaw`
    DELETE FROM estate_import_lots WHERE import_id = ${importId} AND groups = ${groups} AND lot = ANY(${lots})`;
}

/** The file's rows of these groups that were not refused. */
export async function findGroupRows(tx: Sql, importId: string, refs: readonly string[]): Promise<StagedRow[]> {
  const found = await tx.$queryRaw<{ rows: StagedRow[] }[]>`
    SELECT l.rows FROM estate_import_lots l
    WHERE l.import_id = ${importId} AND l.groups AND l.ref = ANY(${refs})
      AND NOT EXISTS (SELECT 1 FROM estate_import_rows r WHERE r.import_id = l.import_id AND r.unit = l.lot)`;
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
  const found = await db.$queryRaw<{ unit: number }[]>`
    SELECT unit FROM estate_import_units WHERE import_id = ${importId} AND unit = ANY(${units}::int[])`;
  return new Set(found.map(({ unit }) => unit));
}

/**
 * Deletes some of what is kept of an import until its end: how many rows. Lots first: as long as one is there, it must
 * be known what of it is done. By ranges of numbers, which any plan is good enough for: these tables fill and empty by
 * tens of thousands, and what the planner knows of them is of another time.
 */
export async function deleteStaged(db: Sql, importId: string, limit: number): Promise<number> {
  for (const groups of [false, true]) {
    const lots = await db.$executeRaw`
      DELETE FROM estate_import_lots WHERE import_id = ${importId} AND groups = ${groups} AND lot < ${limit} + (
        SELECT min(lot) FROM estate_import_lots WHERE import_id = ${importId} AND groups = ${groups})`;
    if (lots > 0) return lots;
  }
  return db.$executeRaw`
    DELETE FROM estate_import_units WHERE import_id = ${importId} AND unit < ${limit} + (
      SELECT min(unit) FROM estate_import_units WHERE import_id = ${importId})`;
}
