import { inTransaction, type Sql } from '@attribution/database';
import type { EventsDatabase } from '../store.ts';
import { boundsOf, firstIdOf, type Month } from './months.ts';

type Pool = EventsDatabase['pool'];
/** A pool, or a connection of it. */
type Connection = Pick<Pool, 'query'>;

export const rawTables = ['visits', 'plays'] as const;
export type RawTable = (typeof rawTables)[number];

const monthsOf = (table: RawTable) => `
  SELECT substr(child.relname, ${table.length + 2}) AS month
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = '${table}'::regclass AND child.relname ~ '^${table}_[0-9]{4}_[0-9]{2}$' ORDER BY 1`;

/** The months that have a partition, in their order. */
export async function findMonths(connection: Connection, table: RawTable): Promise<Month[]> {
  const { rows } = await connection.query<{ month: string }>(monthsOf(table));
  return rows.map(({ month }) => month);
}

/**
 * The instant since when all items are kept, in milliseconds since the epoch, whatever was dropped; undefined as long as
 * there are no months. Until the transaction ends nothing is dropped.
 */
export async function findKeptSince(tx: Sql): Promise<number | undefined> {
  await tx.$executeRawUnsafe('LOCK TABLE ONLY visits, ONLY plays IN ACCESS SHARE MODE');
  const firsts: number[] = [];
  for (const table of rawTables) {
    const [first] = await tx.$queryRawUnsafe<{ month: string }[]>(`${monthsOf(table)} LIMIT 1`);
    if (first) firsts.push(boundsOf(first.month).from);
  }
  return firsts.length === 0 ? undefined : Math.max(...firsts);
}

/**
 * Runs work on the partitions of a table, by one process at a time. Everybody queues behind who waits for the table, so that
 * is given up soon.
 */
const alone = (pool: Pool, table: RawTable, work: (client: Connection) => Promise<void>): Promise<void> =>
  inTransaction(pool, async (client) => {
    await client.query("SET LOCAL statement_timeout = '60s'");
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`partitions of ${table}`]);
    await client.query("SET LOCAL lock_timeout = '3s'");
    await work(client);
  });

/**
 * Makes the partition of a month, with what has come of it already. Readers wait too: who had seen which partitions there are
 * before the rows moved would find them in none.
 */
export const addMonth = (pool: Pool, table: RawTable, month: Month): Promise<void> =>
  alone(pool, table, async (client) => {
    if ((await findMonths(client, table)).includes(month)) return;
    const [name, bounds] = [`${table}_${month}`, boundsOf(month)];
    const [from, to] = [`'${firstIdOf(bounds.from)}'`, `'${firstIdOf(bounds.to)}'`];
    await client.query(`
      LOCK TABLE ONLY ${table} IN ACCESS EXCLUSIVE MODE;
      CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL);
      WITH moved AS (DELETE FROM ${table}_default WHERE event_id >= ${from} AND event_id < ${to} RETURNING *)
      INSERT INTO ${name} SELECT * FROM moved;
      ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`);
  });

/**
 * Drops a month. What was received since an instant stays, in the default partition: a device with a wrong clock had made
 * its ids long before.
 */
export const dropMonth = (pool: Pool, table: RawTable, month: Month, since: Date): Promise<void> =>
  alone(pool, table, async (client) => {
    if (!(await findMonths(client, table)).includes(month)) return;
    const name = `${table}_${month}`;
    await client.query(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
    await client.query(`INSERT INTO ${table} SELECT * FROM ${name} WHERE received_at >= $1`, [since]);
    await client.query(`DROP TABLE ${name}`);
  });

/** Items that one statement deletes, so that none takes long. */
const lot = 10_000;

/** Deletes what was received before an instant and is in no month, and returns how much that was. */
export async function deleteStray(pool: Pool, table: RawTable, before: Date, stopping: AbortSignal): Promise<number> {
  const sql = `
    DELETE FROM ${table}_default WHERE (account_id, event_id) IN (
      SELECT account_id, event_id FROM ${table}_default WHERE received_at < $1 LIMIT $2)`;
  for (let deleted = 0; ; ) {
    const { rowCount } = await pool.query(sql, [before, lot]);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < lot || stopping.aborted) return deleted;
  }
}
