import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { withAdvisoryLock } from '../src/index.ts';
import { createScratchDatabase } from './support.ts';

let database: Awaited<ReturnType<typeof createScratchDatabase>>;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createScratchDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 25 });
  pool.on('error', () => {}); // The database is dropped while connections are idle.
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const never = async () => {
  throw new Error('It ran without the lock');
};

test('one of 20 concurrent callers gets the lock, and the others return at once', async () => {
  const others = Promise.withResolvers<void>();
  let refused = 0;
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async () => {
      // The holder keeps the lock until the 19 others have returned, which shows that they do not wait.
      const outcome = await withAdvisoryLock(pool, 'job', () => others.promise.then(() => 'held'));
      if (outcome === undefined && ++refused === 19) others.resolve();
      return outcome;
    }),
  );
  expect(outcomes.filter((outcome) => outcome === 'held')).toHaveLength(1);
  expect(refused).toBe(19);
});

test('locks of different names are independent', async () => {
  const inner = withAdvisoryLock(pool, 'one', () => withAdvisoryLock(pool, 'two', async () => 'both'));
  await expect(inner).resolves.toBe('both');
});

test('the work runs on the connection that holds the lock', async () => {
  await withAdvisoryLock(pool, 'mine', async (client) => {
    const { rows } = await client.query(
      `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
    );
    expect(rows).toEqual([{ count: 1 }]);
  });
});

test('the lock is released after the work, and after work that throws, whose error is rethrown', async () => {
  await withAdvisoryLock(pool, 'again', async () => {});
  const failed = withAdvisoryLock(pool, 'again', async () => {
    throw new Error('the work failed');
  });
  await expect(failed).rejects.toThrow('the work failed');
  await expect(withAdvisoryLock(pool, 'again', async () => 'held')).resolves.toBe('held');
});

test('a holder whose connection is cut loses the lock and gets an error, and the connection is discarded', async () => {
  let pid = 0;
  const cut = withAdvisoryLock(pool, 'cut', async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    pid = rows[0]?.pid ?? 0;
    await expect(withAdvisoryLock(pool, 'cut', never)).resolves.toBeUndefined();
    await pool.query('SELECT pg_terminate_backend($1)', [pid]);
    await client.query('SELECT 1');
  });
  await expect(cut).rejects.toThrow(/terminat|connection/i);
  await eventually(async () => expect(await withAdvisoryLock(pool, 'cut', async () => 'held')).toBe('held'));
  const { rows } = await pool.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid]);
  expect(rows).toEqual([]);
});
