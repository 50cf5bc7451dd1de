import type { Clock } from '@attribution/runtime';
import type pg from 'pg';
import { keysKeptMs } from './idempotency.ts';
import type { Job } from './jobs.ts';

/** How many rows, by table. */
export type Counts = Readonly<Record<string, number>>;

/** Something that a job deletes in its turn. */
export interface Purge {
  /** What would go now. */
  count(): Promise<Counts>;
  /** Answers what went. */
  purge(): Promise<Counts>;
}

/** Of one statement: all at once could take longer than a statement may. */
const atOnce = 10_000;
/** Milliseconds that marks are kept: longer than Kafka keeps an event, so that no redelivery finds its mark gone. */
const marksKeptMs = 30 * 24 * 60 * 60 * 1000;

/** Rows of a table that may go. */
export interface Forgettable {
  readonly table: string;
  /** Of a row, with a time as `$1`. */
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
  // The condition once more: who waited for a row that somebody has just used finds another row at its place.
  const sql = `
    DELETE FROM ${table} WHERE (${condition})
      AND ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT $2))`;
  for (let gone = 0; ; ) {
    const { rowCount } = await pool.query(sql, [time, atOnce]);
    gone += rowCount ?? 0;
    if ((rowCount ?? 0) < atOnce) return gone;
  }
}

/** Counts and deletes rows whose time is over, of several tables, some thousands by a statement. */
export function purgeOf(pool: pg.Pool, dues: readonly Due[]): Purge {
  const over = async (work: typeof count): Promise<Counts> => {
    const counts: Record<string, number> = {};
    for (const due of dues) counts[due.table] = await work(pool, due);
    return counts;
  };
  return { count: () => over(count), purge: () => over(remove) };
}

/** By the names of the jobs that do them in their turn. */
export type Purges = Readonly<Record<string, Purge>>;

/** A job each, every hour; `every`: milliseconds, of those that are more urgent. */
export const purgeJobs = (purges: Purges, every: Readonly<Record<string, number>> = {}): Job[] =>
  Object.entries(purges).map(([name, { purge }]) => ({
    name,
    every: every[name] ?? 60 * 60 * 1000,
    run: async () => void (await purge()),
  }));

/** What every service forgets, by the names of the jobs that do it in their turn. */
export function commonPurges(pool: pg.Pool, clock: Clock) {
  const ago = (milliseconds: number) => () => new Date(clock.now().getTime() - milliseconds);
  return {
    'purge-idempotency-keys': purgeOf(pool, [
      { table: 'idempotency_keys', condition: 'created_at <= $1', before: ago(keysKeptMs) },
    ]),
    'purge-inbox': purgeOf(pool, [
      { table: 'inbox', condition: 'processed_at < $1', before: ago(marksKeptMs) },
      {
        table: 'projection_tombstones',
        // A dead letter may be older than what is gone, and is replayed when somebody likes.
        condition: 'deleted_at < $1 AND NOT EXISTS (SELECT FROM dead_letters)',
        before: ago(marksKeptMs),
      },
    ]),
  } satisfies Record<string, Purge>;
}
