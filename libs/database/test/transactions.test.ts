import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { afterCommit } from '../src/index.ts';
import { meetingOf, openThings } from './support.ts';

type Things = Awaited<ReturnType<typeof openThings>>;

let database: Things;
const broken: Error[] = [];
beforeAll(async () => {
  database = await openThings({ onError: (error) => broken.push(error) });
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query(`DELETE FROM things WHERE id > 2; UPDATE things SET size = 0`);
});

/** The sizes of the two things, as another connection sees them. */
async function sizes(): Promise<number[]> {
  const { rows } = await database.pool.query<{ size: number }>('SELECT size FROM things ORDER BY id LIMIT 2');
  return rows.map((row) => row.size);
}

test('a transaction is all or nothing, and returns the result of the work', async () => {
  const work = (fail: boolean) =>
    database.transaction(async (tx) => {
      await tx.thing.update({ where: { id: 1 }, data: { size: 5 } });
      await tx.$executeRawUnsafe('UPDATE things SET size = 6 WHERE id = 2');
      if (fail) throw new Error('changed its mind');
      return 'done';
    });
  await expect(work(true)).rejects.toThrow('changed its mind');
  expect(await sizes()).toEqual([0, 0]);
  await expect(work(false)).resolves.toBe('done');
  expect(await sizes()).toEqual([5, 6]);
});

test('20 concurrent transactions, more than there are connections, all succeed', async () => {
  const grow = () =>
    database.transaction(async (tx) => tx.$executeRawUnsafe('UPDATE things SET size = size + 1 WHERE id = 1'));
  await Promise.all(Array.from({ length: 20 }, grow));
  expect(await sizes()).toEqual([20, 0]);
});

describe('a commit hook', () => {
  test('runs in order, when other connections see what was written, and not before', async () => {
    const done: string[] = [];
    let seen: Promise<number[]> | undefined;
    await database.transaction(async (tx) => {
      afterCommit(tx, () => {
        done.push('first');
        seen = sizes();
      });
      await tx.thing.update({ where: { id: 1 }, data: { size: 7 } });
      afterCommit(tx, () => done.push('second'));
      expect(done).toEqual([]);
    });
    expect(done).toEqual(['first', 'second']);
    expect(await seen).toEqual([7, 0]);
  });

  test('never runs if the work throws', async () => {
    let done = false;
    const failed = database.transaction(async (tx) => {
      afterCommit(tx, () => {
        done = true;
      });
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(done).toBe(false);
  });

  test('never runs if the commit itself fails', async () => {
    await database.pool.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused at commit'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON things DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
    `);
    let done = false;
    const failed = database.transaction(async (tx) => {
      afterCommit(tx, () => {
        done = true;
      });
      await tx.thing.create({ data: { id: 3, name: 'third' } });
    });
    await expect(failed).rejects.toThrow('refused at commit');
    expect(done).toBe(false);
    await database.pool.query('DROP FUNCTION refuse CASCADE');
  });

  test('runs once, for the attempt that succeeds', async () => {
    let attempts = 0;
    const done: number[] = [];
    await database.transaction(async (tx) => {
      const attempt = ++attempts;
      afterCommit(tx, () => done.push(attempt));
      if (attempt < 3) await failWith(tx, '40001');
    });
    expect(done).toEqual([3]);
  });
});

type Tx = Parameters<Parameters<Things['transaction']>[0]>[0];

/** Makes Postgres raise an error with this SQLSTATE. */
async function failWith(tx: Tx, sqlstate: string): Promise<void> {
  await tx.$executeRawUnsafe(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${sqlstate}'; END $$`);
}

async function attemptsOf(sqlstate: string): Promise<number> {
  let attempts = 0;
  const failed = database.transaction(async (tx) => {
    attempts++;
    await failWith(tx, sqlstate);
  });
  await expect(failed).rejects.toMatchObject({ name: 'PrismaClientKnownRequestError' });
  return attempts;
}

test.each(['40001', '40P01'])('%s: a permanent conflict is thrown after four attempts', async (sqlstate) => {
  expect(await attemptsOf(sqlstate)).toBe(4);
});

test.each(['23505', '22012', '55P03', '57014'])('%s: any other error is thrown at once', async (sqlstate) => {
  expect(await attemptsOf(sqlstate)).toBe(1);
});

test('if two transactions both read before both write, the one that Postgres refuses is repeated, and no write is lost', async () => {
  const bothHaveRead = meetingOf(2);
  let attempts = 0;
  const grow = () =>
    database.transaction(async (tx) => {
      attempts++;
      await tx.$executeRawUnsafe('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
      const { size } = await tx.thing.findUniqueOrThrow({ where: { id: 1 } });
      await bothHaveRead();
      await tx.thing.update({ where: { id: 1 }, data: { size: size + 1 } });
    });
  await Promise.all([grow(), grow()]);
  expect(await sizes()).toEqual([2, 0]);
  expect(attempts).toBeGreaterThan(2);
});

test('if two transactions lock in opposite order, the one that Postgres ends is repeated', async () => {
  const bothHoldOne = meetingOf(2);
  let attempts = 0;
  const grow = (one: number, other: number) =>
    database.transaction(async (tx) => {
      attempts++;
      await tx.$executeRawUnsafe('UPDATE things SET size = size + 1 WHERE id = $1', one);
      await bothHoldOne();
      await tx.$executeRawUnsafe('UPDATE things SET size = size + 1 WHERE id = $1', other);
    });
  await Promise.all([grow(1, 2), grow(2, 1)]);
  expect(await sizes()).toEqual([2, 2]);
  expect(attempts).toBe(3);
});

test('connections that break while idle are reported and replaced', async () => {
  await Promise.all(Array.from({ length: 5 }, () => database.ping()));
  broken.length = 0;
  const end =
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
  await database.pool.query(end);
  await eventually(() => expect(broken.length).toBeGreaterThan(0));
  expect(broken[0]?.message).toContain('terminating connection');
  await eventually(() => database.ping());
  expect(await sizes()).toEqual([0, 0]);
});

test('the ping of a missing database fails', async () => {
  const gone = await openThings();
  await gone.ping();
  await gone.pool.query(`ALTER TABLE things RENAME TO kept`);
  await gone.drop();
  await expect(gone.ping()).rejects.toThrow();
});

test('statements whose text always differs do not fill a connection with prepared ones', async () => {
  const narrow = await openThings({ poolSize: 1 });
  for (let n = 0; n < 520; n++) await narrow.prisma.$queryRawUnsafe(`SELECT ${n} AS n`);
  const { rows } = await narrow.pool.query<{ count: number }>('SELECT count(*)::int FROM pg_prepared_statements');
  expect(rows[0]?.count).toBeLessThanOrEqual(500);
  expect(rows[0]?.count).toBeGreaterThan(400);
  await narrow.drop();
});
