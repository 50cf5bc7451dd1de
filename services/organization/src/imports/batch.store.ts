import type { Sql } from '@attribution/database';
import type { StagedRow, StagedRows } from './batches.ts';
import { ConcurrentWorker } from './import.store.ts';

// The staged rows of imports, by batch, and the units that are done. In the database a batch is a `lot`, and each
// `StagedRows` of it a `piece`. These tables grow and shrink by tens of thousands of rows, so the planner's statistics
// are always stale: every query reads a range of numbers, or one name at a time, which no plan can turn into a scan or
// a nested loop over everything.

/** Throws `ConcurrentWorker` if another worker has inserted the same. */
export async function insertStagedRows(tx: Sql, importId: string, staged: readonly StagedRows[]): Promise<void> {
  const inserted = await tx.$executeRaw`
    INSERT INTO estate_import_lots (import_id, groups, lot, piece, ref, size, rows)
    SELECT ${importId}, s.* FROM json_to_recordset(${JSON.stringify(staged)}::json)
      AS s (groups bool, batch int, sequence int, ref text, size int, rows json)
    ON CONFLICT DO NOTHING`;
  if (inserted !== staged.length) throw new ConcurrentWorker();
}

/** A position in the order of an import's batches: groups, or all others, behind `batch`. */
export interface After {
  readonly groups: boolean;
  readonly batch: number;
}

export interface Batch {
  readonly batch: number;
  readonly rows: readonly StagedRow[];
}

/** The next batches, as many as have `maxRows` rows together; at least one if any is left. */
export async function findBatches(db: Sql, importId: string, after: After, maxRows: number): Promise<Batch[]> {
  const found = await db.$queryRaw<{ batch: number; rows: StagedRow[] }[]>`
    WITH sizes AS (
      SELECT lot, sum(size) AS size FROM (
        SELECT lot, size FROM estate_import_lots
        WHERE import_id = ${importId} AND groups = ${after.groups} AND lot > ${after.batch}
        ORDER BY lot, piece LIMIT ${maxRows}) AS few
      GROUP BY lot
    ), chosen AS (
      SELECT lot FROM (SELECT lot, sum(size) OVER (ORDER BY lot) AS until, size FROM sizes) AS running
      WHERE until <= ${maxRows} OR until = size
    )
    SELECT lot AS batch, rows FROM estate_import_lots
    WHERE import_id = ${importId} AND groups = ${after.groups} AND lot > ${after.batch}
      AND lot <= (SELECT max(lot) FROM chosen)
    ORDER BY lot, piece`;
  return Array.from(
    Map.groupBy(found, ({ batch }) => batch),
    ([batch, own]) => ({ batch, rows: own.flatMap(({ rows }) => rows) }),
  );
}

/** How many rows of the import are staged. */
export async function countStagedRows(tx: Sql, importId: string): Promise<number> {
  const [found] = await tx.$queryRaw<{ count: number }[]>`
    SELECT coalesce(sum(size), 0)::int AS count FROM estate_import_lots WHERE import_id = ${importId}`;
  return found?.count ?? 0;
}

/** Deletes the batches from one number to another, except those in `kept`. */
export async function deleteBatches(
  db: Sql,
  importId: string,
  { groups, from, to, kept }: { groups: boolean; from: number; to: number; kept: readonly number[] },
): Promise<void> {
  await db.$executeRaw`
    DELETE FROM estate_import_lots
    WHERE import_id = ${importId} AND groups = ${groups} AND lot BETWEEN ${from} AND ${to} AND lot <> ALL(${kept}::int[])`;
}

/** The staged rows of these groups. */
export async function findGroupRows(tx: Sql, importId: string, refs: readonly string[]): Promise<StagedRow[]> {
  const found = await tx.$queryRaw<{ rows: StagedRow[] }[]>`
    SELECT l.rows FROM unnest(${refs}::text[]) AS given (ref)
    CROSS JOIN LATERAL (
      SELECT x.rows FROM estate_import_lots x
      WHERE x.import_id = ${importId} AND x.ref >= given.ref AND x.ref <= given.ref ORDER BY x.ref LIMIT 1) l`;
  return found.flatMap(({ rows }) => rows);
}

/** Marks units as done, as part of the transaction. Throws `ConcurrentWorker` if another worker has done one of them. */
export async function markUnitsDone(tx: Sql, importId: string, units: readonly number[]): Promise<void> {
  const marked = await tx.$executeRaw`
    INSERT INTO estate_import_units (import_id, unit)
    SELECT ${importId}, unit FROM unnest(${units}::int[]) AS unit ORDER BY unit ON CONFLICT DO NOTHING`;
  if (marked !== units.length) throw new ConcurrentWorker();
}

/** The units that are done, between the lowest and the highest of the given ones. */
export async function findDoneUnits(db: Sql, importId: string, units: readonly number[]): Promise<Set<number>> {
  const [from, to] = spanOf(units);
  const found = await db.$queryRaw<{ unit: number }[]>`
    SELECT unit FROM estate_import_units WHERE import_id = ${importId} AND unit BETWEEN ${from} AND ${to}`;
  return new Set(found.map(({ unit }) => unit));
}

/** The lowest and the highest of some numbers; an empty range for none. */
export function spanOf(numbers: readonly number[]): readonly [from: number, to: number] {
  return [
    numbers.reduce((lowest, number) => Math.min(lowest, number), 0x7fffffff),
    numbers.reduce((highest, number) => Math.max(highest, number), -1),
  ];
}

/** Deletes the first `limit` batches, or fewer, and as many groups. Returns how many database rows it deleted. */
export async function deleteSomeBatches(db: Sql, importId: string, limit: number): Promise<number> {
  let deleted = 0;
  for (const groups of [false, true])
    deleted += await db.$executeRaw`
      DELETE FROM estate_import_lots WHERE import_id = ${importId} AND groups = ${groups} AND lot < ${limit} + (
        SELECT min(lot) FROM estate_import_lots WHERE import_id = ${importId} AND groups = ${groups})`;
  return deleted;
}

/** Deletes the marks of an import that has ended. */
export async function deleteUnits(tx: Sql, importId: string): Promise<void> {
  await tx.$executeRaw`DELETE FROM estate_import_units WHERE import_id = ${importId}`;
}
