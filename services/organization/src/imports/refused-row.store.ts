import type { Sql } from '@attribution/database';
import { spanOf } from './lot.store.ts';

/** The rows of imports that were refused. */
export interface RefusedRow {
  readonly row: number;
  readonly kind: string;
  readonly external_id: string;
  readonly parent?: string | null;
  /** Missing: it belongs to none. */
  readonly unit?: number | undefined;
  /** Missing: what it is in has not come yet. */
  readonly reason?: string | undefined;
}

/** Adds rows, or what is learned of them: a reason or a unit that was not known. How many were not there. */
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

/** Of rows that have none yet: what they are in has not come. How many. */
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

/** Units between these numbers that have a row at fault, each with its first one. */
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

/** Deletes some rows, by a range of numbers: how many. */
export async function deleteRefused(db: Sql, importId: string, limit: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM estate_import_rows WHERE import_id = ${importId} AND row < ${limit} + (
      SELECT min(row) FROM estate_import_rows WHERE import_id = ${importId})`;
}
