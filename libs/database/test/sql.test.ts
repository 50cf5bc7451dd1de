import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { afterCommit, isForeignKeyViolation, isUniqueViolation, type Sql } from '../src/index.ts';
import { openThings } from './support.ts';

type Things = Awaited<ReturnType<typeof openThings>>;

let database: Things;
beforeAll(async () => {
  database = await openThings({ poolSize: 4 });
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

const grow = (tx: Sql, id: number) => tx.$executeRaw`UPDATE things SET size = size + 1 WHERE id = ${id}`;
const failWith = (tx: Sql, sqlstate: string) =>
  tx.$executeRawUnsafe(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${sqlstate}'; END $$`);

test('values are sent separately from the statement, and returned with their types', async () => {
  const name = `'; DROP TABLE things; --`;
  const at = new Date('2026-03-01T09:30:00.123Z');
  const rows = await database.sql.$queryRaw<object[]>`
    SELECT ${name}::text AS name, ${at}::timestamptz AS at, ${null}::int AS nothing, ${['a', 'b']}::text[] AS list,
      ${JSON.stringify({ deep: [1] })}::jsonb AS json, ${1.5}::float8 AS number`;
  expect(rows).toEqual([{ name, at, nothing: null, list: ['a', 'b'], json: { deep: [1] }, number: 1.5 }]);
});

test('a composed statement, or one given as text, takes values too, and returns the number of changed rows', async () => {
  const text = 'UPDATE things SET size = $1 WHERE id <= $2';
  expect(await database.sql.$executeRaw({ text, values: [3, 2] })).toBe(2);
  expect(await database.sql.$executeRawUnsafe(text, 4, 1)).toBe(1);
  expect(await sizes()).toEqual([4, 3]);
});

test('a statement is planned once per connection, however often it is sent', async () => {
  const prepared = await database.sqlTransaction(async (tx) => {
    for (const id of [1, 2, 1]) await grow(tx, id);
    return tx.$queryRaw<{ uses: number }[]>`
      SELECT (generic_plans + custom_plans)::int AS uses FROM pg_prepared_statements WHERE statement LIKE 'UPDATE things SET size = size + 1%'`;
  });
  expect(prepared).toEqual([{ uses: 3 }]);
});

test('statements beyond the limit of prepared ones run unprepared', async () => {
  for (let count = 0; count < 600; count += 100) {
    const texts = Array.from({ length: 100 }, (_, index) => `SELECT ${count + index} AS n`);
    const answers = await Promise.all(texts.map((text) => database.sql.$queryRawUnsafe<{ n: number }[]>(text)));
    expect(answers.map(([row]) => row?.n)).toEqual(texts.map((_, index) => count + index));
  }
});

test('a transaction is all or nothing, and returns the result of the work', async () => {
  const work = (fail: boolean) =>
    database.sqlTransaction(async (tx) => {
      await grow(tx, 1);
      await grow(tx, 2);
      if (fail) throw new Error('changed its mind');
      return 'done';
    });
  await expect(work(true)).rejects.toThrow('changed its mind');
  expect(await sizes()).toEqual([0, 0]);
  await expect(work(false)).resolves.toBe('done');
  expect(await sizes()).toEqual([1, 1]);
});

test('20 concurrent transactions, more than there are connections, all end, some of them by failing', async () => {
  const attempts = Array.from({ length: 20 }, (_, index) =>
    database.sqlTransaction(async (tx) => {
      await grow(tx, 1);
      if (index % 4 === 0) throw new Error('no');
    }),
  );
  const outcomes = await Promise.allSettled(attempts);
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(5);
  expect(await sizes()).toEqual([15, 0]);
});

describe('a commit hook', () => {
  test('runs when other connections see what was written, and not before', async () => {
    let seen: Promise<number[]> | undefined;
    await database.sqlTransaction(async (tx) => {
      afterCommit(tx, () => {
        seen = sizes();
      });
      await grow(tx, 1);
      expect(seen).toBeUndefined();
    });
    expect(await seen).toEqual([1, 0]);
  });

  test('never runs if the work throws or the commit fails', async () => {
    await database.pool.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused at commit'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON things DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
    `);
    let done = false;
    const begin = (tx: Sql) =>
      afterCommit(tx, () => {
        done = true;
      });
    const thrown = database.sqlTransaction(async (tx) => {
      begin(tx);
      throw new Error('no');
    });
    await expect(thrown).rejects.toThrow('no');
    const refused = database.sqlTransaction(async (tx) => {
      begin(tx);
      await tx.$executeRaw`INSERT INTO things (id, name) VALUES (3, 'third')`;
    });
    await expect(refused).rejects.toThrow('refused at commit');
    expect(done).toBe(false);
    await database.pool.query('DROP FUNCTION refuse CASCADE');
  });

  test('runs once, for the attempt that succeeds', async () => {
    let attempts = 0;
    const done: number[] = [];
    await database.sqlTransaction(async (tx) => {
      const attempt = ++attempts;
      afterCommit(tx, () => done.push(attempt));
      if (attempt < 3) await failWith(tx, '40001');
    });
    expect(done).toEqual([3]);
  });
});

test.each([
  ['40001', 4],
  ['40P01', 4],
  ['23505', 1],
])('work that fails with %s is tried %d times', async (sqlstate, times) => {
  let attempts = 0;
  const failed = database.sqlTransaction(async (tx) => {
    attempts++;
    await failWith(tx, sqlstate);
  });
  await expect(failed).rejects.toMatchObject({ code: sqlstate });
  expect(attempts).toBe(times);
});

test('work that continues after a failed statement is not reported as committed', async () => {
  let done = false;
  const failed = database.sqlTransaction(async (tx) => {
    afterCommit(tx, () => {
      done = true;
    });
    await grow(tx, 1);
    await Promise.resolve(failWith(tx, '23505')).catch(() => {});
  });
  await expect(failed).rejects.toThrow('rolled back');
  expect(done).toBe(false);
  expect(await sizes()).toEqual([0, 0]);
});

test('a connection that breaks during a transaction fails only that transaction', async () => {
  const failed = database.sqlTransaction(async (tx) => {
    await grow(tx, 1);
    const [own] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    await database.pool.query('SELECT pg_terminate_backend($1)', [own?.pid]);
    await eventually(() => expect(grow(tx, 2)).rejects.toThrow());
  });
  await expect(failed).rejects.toThrow();
  await Promise.all([1, 1, 2, 2].map((id) => database.sqlTransaction((tx) => Promise.resolve(grow(tx, id)))));
  expect(await sizes()).toEqual([2, 2]);
});

test('violations are distinguished as they are for models', async () => {
  const inserting = (name: string, parent: number | null) =>
    database.sql.$executeRaw`INSERT INTO things (id, name, parent_id) VALUES (3, ${name}, ${parent})`;
  const reasonOf = async (work: PromiseLike<unknown>) => {
    const error: unknown = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return { unique: isUniqueViolation(error), foreignKey: isForeignKeyViolation(error) };
  };
  expect(await reasonOf(inserting('first', null))).toEqual({ unique: true, foreignKey: false });
  expect(await reasonOf(inserting('third', 99))).toEqual({ unique: false, foreignKey: true });
});
