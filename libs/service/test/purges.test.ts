import { createTestDatabase, eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { purgeOf } from '../src/index.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
beforeEach(async () => {
  database = await createTestDatabase('campaign');
  pool = new pg.Pool({ connectionString: database.url });
  await pool.query('CREATE TABLE visits (id int, seen_at timestamptz)');
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const visits = () =>
  purgeOf(pool, [{ table: 'visits', condition: 'seen_at < $1', before: () => new Date('2026-01-01') }]);
const left = async () => (await pool.query('SELECT id FROM visits ORDER BY id')).rows.map(({ id }) => id as number);

test('all expired rows are deleted, however many, and no others', async () => {
  await pool.query(`INSERT INTO visits SELECT n, '2025-12-31' FROM generate_series(1, 20500) AS n`);
  await pool.query(`INSERT INTO visits VALUES (0, '2026-01-01')`);
  expect(await visits().count()).toEqual({ visits: 20_500 });
  expect(await visits().purge()).toEqual({ visits: 20_500 });
  expect(await left()).toEqual([0]);
});

test('a row that is used while the purge runs stays', async () => {
  await pool.query(`INSERT INTO visits VALUES (1, '2025-12-31'), (2, '2025-12-31')`);
  const visitor = await pool.connect();
  await visitor.query(`BEGIN; UPDATE visits SET seen_at = '2026-02-01' WHERE id = 1`);
  const purging = visits().purge();
  await eventually(async () => {
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    expect((await pool.query(waiting)).rowCount).toBe(1);
  });
  await visitor.query('COMMIT');
  visitor.release();
  expect(await purging).toEqual({ visits: 1 });
  expect(await left()).toEqual([1]);
});
