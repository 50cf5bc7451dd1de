import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openThings } from './support.ts';

/** Milliseconds. */
const statementTimeout = 100;

let database: Awaited<ReturnType<typeof openThings>>;
beforeEach(async () => {
  database = await openThings({ statementTimeout, poolSize: 1 });
});
afterEach(() => database.drop());

async function running(what: string): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE $1`,
    [`%${what}%`],
  );
  return rows[0]?.count ?? 0;
}

test('a statement of a session may take longer than those of the pool, which stays free', async () => {
  await expect(database.sql.$queryRaw`SELECT pg_sleep(0.5)`).rejects.toThrow('statement timeout');
  const slow = database.session(async (session) => {
    await session.$executeRaw`SELECT pg_sleep(0.5)`;
    return 'done';
  });
  await database.ping();
  await expect(slow).resolves.toBe('done');
});

test('temporary tables go with their session', async () => {
  const count = await database.session(async (session) => {
    await session.$executeRaw`CREATE TEMPORARY TABLE sums AS SELECT id FROM things WHERE name = ANY(${['first', 'third']})`;
    return session.$queryRaw<{ id: number }[]>`SELECT id FROM sums`;
  });
  expect(count).toEqual([{ id: 1 }]);
  await expect(database.session((session) => session.$queryRaw`SELECT id FROM sums`)).rejects.toThrow('does not exist');
});

test('an abort ends what a session runs, here and on the server', async () => {
  const stopping = new AbortController();
  const endless = database.session((session) => session.$queryRaw`SELECT pg_sleep(60)`, stopping.signal);
  const outcome = expect(endless).rejects.toThrow('enough');
  await eventually(async () => expect(await running('pg_sleep(60)')).toBe(1));
  stopping.abort(new Error('enough'));
  await outcome;
  await eventually(async () => expect(await running('pg_sleep(60)')).toBe(0));
});

test('a session that is aborted before it begins runs nothing', async () => {
  let ran = false;
  const work = async () => {
    ran = true;
  };
  await expect(database.session(work, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  expect(ran).toBe(false);
});
