import { inTransaction } from '@attribution/database';
import { lockProjections } from '@attribution/messaging';
import { wakeWorkers } from '@attribution/service';
import type pg from 'pg';

/** How far a snapshot has been read. `none`: nobody has begun, or it is to be read anew. */
export type Progress =
  | { readonly state: 'none' | 'reading'; readonly rows: number }
  | { readonly state: 'read'; readonly rows: number; readonly at: Date };

interface Walk {
  readonly name: string;
  /** What it is read into. */
  readonly tables: readonly string[];
}

export async function findProgress(pool: pg.Pool, { name, tables }: Walk): Promise<Progress> {
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

/** So that its snapshot is read anew; `unfinished` too, if it is being read. False where there was nothing to forget. */
export async function forgetWalk(pool: pg.Pool, name: string, unfinished: boolean): Promise<boolean> {
  const { rowCount } = await pool.query(
    'DELETE FROM projection_snapshots WHERE name = $1 AND ($2 OR completed_at IS NOT NULL)',
    [name, unfinished],
  );
  return (rowCount ?? 0) > 0;
}

/** The same with all that was read: in one transaction, with no page and no event beside it (ADR 18). Answers how many rows went. */
export async function emptyWalk(pool: pg.Pool, { name, tables }: Walk): Promise<number> {
  return inTransaction(pool, async (client) => {
    const execute = async (sql: string) => (await client.query(sql)).rowCount ?? 0;
    await lockProjections({ $executeRawUnsafe: execute, $queryRawUnsafe: execute as never }, true);
    let gone = 0;
    for (const table of tables) gone += await execute(`DELETE FROM ${table}`);
    await client.query('DELETE FROM projection_snapshots WHERE name = $1', [name]);
    return gone;
  });
}

/** Lets workers know at once; where everything is one process, the job looks within a minute. */
export const wakeCatchUp = (pool: pg.Pool, name: string): Promise<void> => wakeWorkers(pool, `catch-up-${name}`);
