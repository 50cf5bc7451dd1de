import type { Clock } from '@attribution/runtime';
import type pg from 'pg';
import { keysKeptMs } from './idempotency.ts';
import type { Job } from './jobs.ts';

/** Numbers of rows, by table. */
export type Counts = Readonly<Record<string, number>>;

/** Deletes rows that are no longer needed. A job runs it. */
export interface Purge {
  /** Counts what `purge` would delete now. */
  count(): Promise<Counts>;
  /** Returns what was deleted. */
  purge(): Promise<Counts>;
}

/** Rows deleted by one statement: deleting all of them could exceed the statement timeout. */
const batchSize = 10_000;
/** Longer than Kafka keeps an event, so that a redelivered event still finds its inbox row. */
const inboxKeptMs = 30 * 24 * 60 * 60 * 1000;

/** Rows of a table that may be deleted. */
export interface Forgettable {
  readonly table: string;
  /** SQL about a row, with a time as `$1`. */
  readonly condition: string;
}

interface Due extends Forgettable {
  readonly before: () => Date;
}

async function count(pool: pg.Pool, { table, condition, before }: Due): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE ${condition}`,
    [before()],
  );
  return rows[0]?.count ?? 0;
}

async function remove(pool: pg.Pool, { table, condition, before }: Due): Promise<number> {
  const time = before();
  // The condition is repeated because a row can change between the SELECT and the DELETE, and then must stay.
  const sql = `
    DELETE FROM ${table} WHERE (${condition})
      AND ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT $2))`;
  for (let deleted = 0; ; ) {
    const { rowCount } = await pool.query(sql, [time, batchSize]);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < batchSize) return deleted;
  }
}

/** A purge of expired rows from several tables. */
export function purgeOf(pool: pg.Pool, dues: readonly Due[]): Purge {
  const over = async (work: typeof count): Promise<Counts> => {
    const counts: Record<string, number> = {};
    for (const due of dues) counts[due.table] = await work(pool, due);
    return counts;
  };
  return { count: () => over(count), purge: () => over(remove) };
}

/** By the names of their jobs. */
export type Purges = Readonly<Record<string, Purge>>;

/** A job for each purge, once an hour unless `every` gives another interval in milliseconds. */
export const purgeJobs = (purges: Purges, every: Readonly<Record<string, number>> = {}): Job[] =>
  Object.entries(purges).map(([name, { purge }]) => ({
    name,
    every: every[name] ?? 60 * 60 * 1000,
    run: async () => void (await purge()),
  }));

/** The purges that every service has. */
export function commonPurges(pool: pg.Pool, clock: Clock) {
  const ago = (milliseconds: number) => () => new Date(clock.now().getTime() - milliseconds);
  return {
    'purge-idempotency-keys': purgeOf(pool, [
      { table: 'idempotency_keys', condition: 'created_at <= $1', before: ago(keysKeptMs) },
    ]),
    'purge-inbox': purgeOf(pool, [
      { table: 'inbox', condition: 'processed_at < $1', before: ago(inboxKeptMs) },
      {
        table: 'projection_tombstones',
        // A dead letter may be older than the deletion, and its replay would bring the deleted row back.
        condition: 'deleted_at < $1 AND NOT EXISTS (SELECT FROM dead_letters)',
        before: ago(inboxKeptMs),
      },
    ]),
  } satisfies Record<string, Purge>;
}
