import type { EstateKind } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { AnotherAtWork } from './import.store.ts';
import type { RowFields } from './row.ts';

/** The rows of imports that are to be done, and those that were refused. */
export interface StagedRow {
  readonly row: number;
  readonly kind: EstateKind;
  readonly external_id: string;
  readonly parent: string | null;
  readonly unit: number;
  readonly fields: RowFields;
}

export interface NewStagedRow {
  readonly import_id: string;
  readonly row: number;
  readonly kind: string;
  readonly external_id: string;
  readonly parent: string | null;
  readonly unit: number | null;
  readonly fields: RowFields | null;
  readonly reason: string | null;
}

export async function insertStagedRows(tx: Sql, rows: readonly NewStagedRow[]): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO estate_import_rows (import_id, row, kind, external_id, parent, unit, fields, reason)
    SELECT import_id, row, kind, external_id, parent, unit, fields, reason
    FROM jsonb_populate_recordset(NULL::estate_import_rows, ${JSON.stringify(rows)}::jsonb)`;
}

export async function countRows(tx: Sql, importId: string): Promise<number> {
  const [found] = await tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM estate_import_rows WHERE import_id = ${importId}`;
  return found?.count ?? 0;
}

/** The table fills and empties by tens of thousands: what the planner knows of it is of another time. */
export async function learnSizes(db: Sql): Promise<void> {
  await db.$executeRaw`ANALYZE estate_import_rows`;
}

/** A fault that was found in a row, and the unit that it refuses. */
export interface Fault {
  readonly row: number;
  readonly unit: number | null | undefined;
  readonly reason: string;
}

/** Notes faults of rows that have none yet, and where they belong. */
export async function noteFaults(tx: Sql, importId: string, faults: readonly Fault[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE estate_import_rows r SET reason = coalesce(r.reason, f.reason), unit = coalesce(f.unit, r.unit)
    FROM jsonb_to_recordset(${JSON.stringify(faults)}::jsonb) AS f (row int, unit int, reason text)
    WHERE r.import_id = ${importId} AND r.row = f.row`;
}

/** The units that have a row at fault, each with its first such row. */
export async function findFaultyUnits(tx: Sql, importId: string): Promise<{ unit: number; row: number }[]> {
  return tx.$queryRaw`
    SELECT unit, min(row) AS row FROM estate_import_rows
    WHERE import_id = ${importId} AND reason IS NOT NULL AND unit IS NOT NULL GROUP BY unit`;
}

/** Refuses the rows of these units, and those that belong to none, from one row to another; how many. */
export async function refuseRows(
  tx: Sql,
  importId: string,
  units: readonly { unit: number; row: number }[],
  from: number,
  to: number,
): Promise<number> {
  const [numbers, rows] = [units.map(({ unit }) => unit), units.map(({ row }) => row)];
  return tx.$executeRaw`
    UPDATE estate_import_rows SET result = 'refused', fields = NULL, reason = coalesce(reason,
      CASE WHEN unit IS NULL THEN 'parent: there is no ' ||
          CASE WHEN kind IN ('screen', 'camera') THEN 'zone ' ELSE '' END || coalesce(parent, '') || '.'
        ELSE 'Row ' || (${rows}::int[])[array_position(${numbers}::int[], unit)] || ' of the same location is at fault.' END)
    WHERE import_id = ${importId} AND row BETWEEN ${from} AND ${to} AND result IS NULL
      AND (unit IS NULL OR unit = ANY(${numbers}::int[]))`;
}

/** Which rows a look at those to be done is for: groups, or all else; from a unit on, or of one alone. */
export type Undone =
  | { readonly groups: boolean; readonly after: number; readonly limit: number }
  | { readonly unit: number };

/** Rows to be done, in the order of their units. */
export async function findUndone(tx: Sql, importId: string, from: Undone): Promise<StagedRow[]> {
  const columns = 'row, kind, external_id, parent, unit, fields';
  return 'unit' in from
    ? tx.$queryRawUnsafe(
        `SELECT ${columns} FROM estate_import_rows WHERE import_id = $1 AND result IS NULL AND unit = $2 ORDER BY row`,
        importId,
        from.unit,
      )
    : tx.$queryRawUnsafe(
        `SELECT ${columns} FROM estate_import_rows
         WHERE import_id = $1 AND result IS NULL AND unit > $2 AND (kind = 'group') = $4 ORDER BY unit, row LIMIT $3`,
        importId,
        from.after,
        from.limit,
        from.groups,
      );
}

/** The file's rows of these groups that were not refused. */
export async function findGroupRows(tx: Sql, importId: string, refs: readonly string[]): Promise<StagedRow[]> {
  return tx.$queryRaw`
    SELECT row, kind, external_id, parent, unit, fields FROM estate_import_rows
    WHERE import_id = ${importId} AND kind = 'group' AND external_id = ANY(${refs}) AND result IS DISTINCT FROM 'refused'`;
}

/** Done rows are not needed any more; `keepGroups`: those of groups are, with their result. Throws where another has done them. */
export async function closeRows(
  tx: Sql,
  importId: string,
  rows: readonly StagedRow[],
  { keepGroups }: { keepGroups: boolean },
): Promise<void> {
  const kept = rows.filter(({ kind }) => keepGroups && kind === 'group').map(({ row }) => row);
  const gone = rows.filter(({ kind }) => !(keepGroups && kind === 'group')).map(({ row }) => row);
  const marked = await tx.$executeRaw`
    UPDATE estate_import_rows SET result = 'unchanged' WHERE import_id = ${importId} AND row = ANY(${kept}) AND result IS NULL`;
  const deleted = await tx.$executeRaw`
    DELETE FROM estate_import_rows WHERE import_id = ${importId} AND row = ANY(${gone}) AND result IS NULL`;
  if (marked + deleted !== rows.length) throw new AnotherAtWork();
}

export interface RefusedRow {
  readonly row: number;
  readonly kind: string;
  readonly external_id: string;
  readonly reason: string;
}

export async function findRefused(db: Sql, importId: string, after: number, limit: number): Promise<RefusedRow[]> {
  return db.$queryRaw`
    SELECT row, kind, external_id, reason FROM estate_import_rows
    WHERE import_id = ${importId} AND row > ${after} AND result = 'refused' ORDER BY row LIMIT ${limit}`;
}

/** Deletes some rows; with `all` of whatever result, else those that were not refused. How many. */
export async function deleteRows(db: Sql, importId: string, { all }: { all: boolean }, limit: number): Promise<number> {
  return db.$executeRaw`
    DELETE FROM estate_import_rows WHERE import_id = ${importId} AND row = ANY(ARRAY(
      SELECT row FROM estate_import_rows WHERE import_id = ${importId} AND (${all} OR result IS DISTINCT FROM 'refused')
      LIMIT ${limit}))`;
}
