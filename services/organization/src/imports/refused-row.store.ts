import type { Sql } from '@attribution/database';
import { spanOf } from './batch.store.ts';

/** A row that is refused. */
export interface RefusedRow {
  readonly row: number;
  readonly kind: string;
  readonly external_id: string;
  readonly parent?: string | null;
  /** undefined if the row belongs to no unit. */
  readonly unit?: number | undefined;
  /** undefined while the file is read and the parent may still follow. */
  readonly reason?: string | undefined;
}

/** Inserts rows, and fills in the reason and the unit of rows that were inserted without. Returns how many are new. */
export async function insertRefused(tx: Sql, importId: string, rows: readonly RefusedRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  const [found] = await tx.$queryRaw<{ count: number }[]>`
    WITH given AS (
      INSERT INTO estate_import_rows AS r (import_id, row, kind, external_id, parent, unit, reason)
      SELECT ${importId}, g.* FROM json_to_recordset(${JSON.stringify(rows)}::json)
        AS g (row int, kind text, external_id text, parent text, unit int, reason text)
      ON CONFLICT (import_id, row)
      DO UPDATE SET reason = coalesce(r.reason, excluded.reason), unit = coalesce(excluded.unit, r.unit)
      RETURNING xmax = 0 AS is_new)
    SELECT count(*) FILTER (WHERE is_new)::int AS count FROM given`;
  return found?.count ?? 0;
}

/** The refused ones of these rows. */
export async function findRefusedAmong(
  db: Sql,
  importId: string,
  rows: readonly number[],
): Promise<(Pick<RefusedRow, 'row' | 'kind' | 'external_id'> & { readonly parent: string | null })[]> {
  return db.$queryRaw`
    SELECT row, kind, external_id, parent FROM estate_import_rows WHERE import_id = ${importId} AND row = ANY(${rows}::int[])`;
}

/** Gives a reason to some rows that have none: their parent is missing. Returns how many. */
export async function giveReasons(tx: Sql, importId: string, limit: number): Promise<number> {
  return tx.$executeRaw`
    UPDATE estate_import_rows SET reason = 'parent: there is no ' ||
      CASE WHEN kind IN ('screen', 'camera') THEN 'zone ' ELSE '' END || coalesce(parent, '') || '.'
    WHERE import_id = ${importId} AND reason IS NULL AND row < ${limit} + (
      SELECT min(row) FROM estate_import_rows WHERE import_id = ${importId} AND reason IS NULL)`;
}

export async function countRefused(tx: Sql, importId: string): Promise<number> {
  const [found] = await tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM estate_import_rows WHERE import_id = ${importId}`;
  return found?.count ?? 0;
}

/** The units that have refused rows, from the lowest to the highest given, each with its first refused row. */
export async function findFaulty(db: Sql, importId: string, units: readonly number[]): Promise<Map<number, number>> {
  const [from, to] = spanOf(units);
  const found = await db.$queryRaw<{ unit: number; row: number }[]>`
    SELECT unit, min(row) AS row FROM estate_import_rows
    WHERE import_id = ${importId} AND unit BETWEEN ${from} AND ${to} GROUP BY unit`;
  return new Map(found.map(({ unit, row }) => [unit, row]));
}

export async function findRefused(
  db: Sql,
  importId: string,
  after: number,
  limit: number,
): Promise<(Pick<RefusedRow, 'row' | 'kind' | 'external_id'> & { readonly reason: string })[]> {
  return db.$queryRaw`
    SELECT row, kind, external_id, reason FROM estate_import_rows
    WHERE import_id = ${importId} AND row > ${after} AND reason IS NOT NULL ORDER BY row LIMIT ${limit}`;
}

/** Deletes the first rows, up to `limit`. Returns how many. */
export async function deleteRefused(db: Sql, importId: string, limit: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM estate_import_rows WHERE import_id = ${importId} AND row < ${limit} + (
      SELECT min(row) FROM estate_import_rows WHERE import_id = ${importId})`;
}
