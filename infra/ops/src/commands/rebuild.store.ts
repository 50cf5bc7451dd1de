import { inTransaction } from '@attribution/database';
import { lockProjections } from '@attribution/messaging';
import { wakeWorkers } from '@attribution/service';
import type pg from 'pg';

/** How far a snapshot has been read. `none`: reading has not begun, or is to begin again. */
export type Progress =
  | { readonly state: 'none' | 'reading'; readonly rows: number }
  | { readonly state: 'read'; readonly rows: number; readonly at: Date };

interface Snapshot {
  readonly name: string;
  /** The projection's tables, which the snapshot fills. */
  readonly tables: readonly string[];
}

export async function findProgress(pool: pg.Pool, { name, tables }: Snapshot): Promise<Progress> {
  const { rows } = await pool.query<{ completed_at: Date | null }>(
    'SELECT completed_at FROM projection_snapshots WHERE name = $1',
    [name],
  );
  const [row] = rows;
  const counted = await countRows(pool, tables);
  if (!row) return { state: 'none', rows: counted };
  return row.completed_at
    ? { state: 'read', rows: counted, at: row.completed_at }
    : { state: 'reading', rows: counted };
}

async function countRows(pool: pg.Pool, tables: readonly string[]): Promise<number> {
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`).join(' + ');
  const { rows } = await pool.query<{ count: number }>(`SELECT (${counts})::int AS count`);
  return rows[0]?.count ?? 0;
}

/** Deletes the progress, so that the worker reads the snapshot again. One that is being read restarts only if `unfinished`. */
export async function restartSnapshot(pool: pg.Pool, name: string, unfinished: boolean): Promise<void> {
  await pool.query('DELETE FROM projection_snapshots WHERE name = $1 AND ($2 OR completed_at IS NOT NULL)', [
    name,
    unfinished,
  ]);
}

/** A projection that is to be emptied. `kept`: the tables of which rows stay. */
export interface Emptied extends Snapshot {
  readonly kept: Readonly<Record<string, 'gone' | 'all'>>;
}

/** What is gone keeps its last state; a page of the snapshot is newer than the others. */
const marking = (table: string) => `UPDATE ${table} SET gone = true, aggregate_version = 0 WHERE NOT gone`;

/**
 * Deletes the progress and all rows of the projection, or marks those that stay as gone, in one transaction, under a lock
 * that keeps pages and events out (ADR 18). Resolves to the number of these rows.
 */
export async function emptyProjection(pool: pg.Pool, { name, tables, kept }: Emptied): Promise<number> {
  return inTransaction(pool, async (client) => {
    const execute = async (sql: string) => (await client.query(sql)).rowCount ?? 0;
    await lockProjections({ $executeRawUnsafe: execute, $queryRawUnsafe: execute as never }, true);
    let emptied = 0;
    for (const table of tables.filter((one) => kept[one] !== 'all'))
      emptied += await execute(kept[table] === 'gone' ? marking(table) : `DELETE FROM ${table}`);
    await client.query('DELETE FROM projection_snapshots WHERE name = $1', [name]);
    return emptied;
  });
}

/** Wakes the workers of a fleet at once. With `npm start` the job looks within a minute anyway. */
export const wakeCatchUp = (pool: pg.Pool, name: string): Promise<void> => wakeWorkers(pool, `catch-up-${name}`);
