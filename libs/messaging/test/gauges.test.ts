/** Gauges that are read when metrics are asked for, at the worst of times: when most waits. */
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { Registry } from 'prom-client';
import { observeMessaging } from '../src/index.ts';
import { openTestDatabase } from './support.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
/** Waits for as long as a test does. */
let pool: pg.Pool;
beforeEach(async () => {
  database = await openTestDatabase();
  pool = new pg.Pool({ connectionString: database.pool.options.connectionString });
  pool.on('error', () => {}); // The database is dropped below its connections.
});
afterEach(async () => {
  await database.drop(); // With what still waits for a lock.
  await pool.end();
});

function observe(patience?: number) {
  const registry = new Registry();
  const { refresh } = observeMessaging(registry, 'campaign', pool, patience);
  const told = async (name: string) => {
    const [, value] = (await registry.metrics()).match(new RegExp(`^${name}{service="campaign"} (.+)$`, 'm')) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  return { refresh, told };
}

/** Events that wait: the first since an hour, and tried three times. */
async function fillOutbox(rows: number): Promise<void> {
  await pool.query(
    `INSERT INTO outbox (event_id, topic, type, version, account_id, key, occurred_at, data, attempts)
     SELECT gen_random_uuid(), 'things', 'thing.counted', 1, 'acc', n::text,
            now() - interval '1 hour' + n * interval '1 ms', '{}', CASE n WHEN 1 THEN 3 ELSE 0 END
     FROM generate_series(1, $1::int) AS n`,
    [rows],
  );
}

/** Keeps everybody from a table until it is released. */
async function lock(table: string) {
  const client = new pg.Client(pool.options);
  client.on('error', () => {}); // A test that failed leaves it to the database's end.
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}

test('an outbox is counted as far as it matters, and its first event is told whatever its length', async () => {
  await fillOutbox(100_100);
  const { refresh, told } = observe(60_000);
  await refresh();
  expect(await told('outbox_pending')).toBe(100_001);
  expect(await told('outbox_oldest_seconds')).toBeGreaterThan(3_590);
  expect(await told('outbox_attempts_max')).toBe(3);
  expect(await told('dead_letters')).toBe(0);
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    'EXPLAIN SELECT occurred_at FROM outbox ORDER BY sequence LIMIT 1',
  );
  expect(rows.map((row) => row['QUERY PLAN']).join()).not.toContain('Sort');
});

test('what cannot be read in time is left out, and takes nothing else with it', async () => {
  await fillOutbox(1);
  const { refresh, told } = observe(3_000);
  /** Repeated, as a busy machine may be late for reasons of its own. */
  const comesToTell = (deadLetters?: number) =>
    eventually(async () => {
      await refresh();
      expect(await told('dead_letters')).toBe(deadLetters);
      expect(await told('outbox_pending')).toBe(1);
      expect(await told('outbox_oldest_seconds')).toBeGreaterThan(3_590);
    });
  await comesToTell(0);
  const release = await lock('dead_letters');
  await comesToTell(undefined);
  await release();
  await comesToTell(0);
});

test('who asks while it is being read asks nothing of the database, and both are told', async () => {
  await fillOutbox(1);
  const { refresh, told } = observe(60_000);
  const release = await lock('dead_letters');
  const scrapes = [refresh(), refresh(), refresh()];
  const waiting = async () =>
    (
      await pool.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%dead_letters%'`,
      )
    ).rowCount;
  await eventually(async () => {
    expect(await waiting()).toBe(1);
    expect(await told('outbox_oldest_seconds')).toBeGreaterThan(3_590);
  }, 30_000);
  const late = refresh();
  expect(await told('outbox_oldest_seconds')).toBeGreaterThan(3_590); // One that begins now takes away nothing.
  expect(await waiting()).toBe(1);
  await release();
  await Promise.all([...scrapes, late]);
  expect(await told('dead_letters')).toBe(0);
  expect(await told('outbox_pending')).toBe(1);
});
