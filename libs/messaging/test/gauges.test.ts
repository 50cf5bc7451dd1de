/** Gauges that are read during a scrape, while many events wait. */
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { Registry } from 'prom-client';
import { observeMessaging } from '../src/index.ts';
import { openTestDatabase } from './support.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
/** A pool without timeouts. */
let pool: pg.Pool;
beforeEach(async () => {
  database = await openTestDatabase();
  pool = new pg.Pool({ connectionString: database.pool.options.connectionString });
  pool.on('error', () => {}); // The database is dropped while connections are open.
});
afterEach(async () => {
  await database.drop(); // This also ends queries that still wait for a lock.
  await pool.end();
});

function observe(timeoutMs?: number) {
  const registry = new Registry();
  const { refresh } = observeMessaging(registry, 'campaign', pool, timeoutMs);
  const gauge = async (name: string) => {
    const [, value] = (await registry.metrics()).match(new RegExp(`^${name}{service="campaign"} (.+)$`, 'm')) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  return { refresh, gauge };
}

/** Inserts waiting events; the first has waited for an hour and was tried three times. */
async function fillOutbox(rows: number): Promise<void> {
  await pool.query(
    `INSERT INTO outbox (event_id, topic, type, version, account_id, key, occurred_at, data, attempts)
     SELECT gen_random_uuid(), 'things', 'thing.counted', 1, 'acc', n::text,
            now() - interval '1 hour' + n * interval '1 ms', '{}', CASE n WHEN 1 THEN 3 ELSE 0 END
     FROM generate_series(1, $1::int) AS n`,
    [rows],
  );
}

/** Locks a table until it is released. */
async function lock(table: string) {
  const client = new pg.Client(pool.options);
  client.on('error', () => {}); // After a failed test the connection ends when the database is dropped.
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}

test('an outbox is counted up to a limit, and the age of its first event is known whatever its length', async () => {
  await fillOutbox(100_100);
  const { refresh, gauge } = observe(60_000);
  await refresh();
  expect(await gauge('outbox_pending')).toBe(100_001);
  expect(await gauge('outbox_oldest_seconds')).toBeGreaterThan(3_590);
  expect(await gauge('outbox_attempts_max')).toBe(3);
  expect(await gauge('dead_letters')).toBe(0);
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    'EXPLAIN SELECT occurred_at FROM outbox ORDER BY sequence LIMIT 1',
  );
  expect(rows.map((row) => row['QUERY PLAN']).join()).not.toContain('Sort');
});

test('a gauge that cannot be read in time is left out, and affects no other', async () => {
  await fillOutbox(1);
  const { refresh, gauge } = observe(3_000);
  /** Repeated, because a busy machine may be slow for other reasons. */
  const expectEventually = (deadLetters?: number) =>
    eventually(async () => {
      await refresh();
      expect(await gauge('dead_letters')).toBe(deadLetters);
      expect(await gauge('outbox_pending')).toBe(1);
      expect(await gauge('outbox_oldest_seconds')).toBeGreaterThan(3_590);
    });
  await expectEventually(0);
  const release = await lock('dead_letters');
  await expectEventually(undefined);
  await release();
  await expectEventually(0);
});

test('concurrent scrapes share one read of the database', async () => {
  await fillOutbox(1);
  const { refresh, gauge } = observe(60_000);
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
    expect(await gauge('outbox_oldest_seconds')).toBeGreaterThan(3_590);
  });
  const late = refresh();
  expect(await gauge('outbox_oldest_seconds')).toBeGreaterThan(3_590); // A read that begins now does not remove the value.
  expect(await waiting()).toBe(1);
  await release();
  await Promise.all([...scrapes, late]);
  expect(await gauge('dead_letters')).toBe(0);
  expect(await gauge('outbox_pending')).toBe(1);
});
