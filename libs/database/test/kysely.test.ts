import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { anyOf, kyselyOf, type SqlTransaction } from '../src/index.ts';
import { openThings } from './support.ts';

interface Tables {
  things: { id: number; name: string; size: number; parent_id: number | null };
}
const db = kyselyOf<Tables>();

type Things = Awaited<ReturnType<typeof openThings>>;

let database: Things;
beforeAll(async () => {
  database = await openThings({ poolSize: 4 });
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query('DELETE FROM things WHERE id > 2; UPDATE things SET size = 0');
});

const names = (tx: SqlTransaction) => db(tx).selectFrom('things').select('name').orderBy('id').execute();
const grow = (tx: SqlTransaction, id: number) =>
  db(tx)
    .updateTable('things')
    .set((thing) => ({ size: thing('size', '+', 1) }))
    .where('id', '=', id);

type Work = <T>(work: (tx: SqlTransaction) => Promise<T>) => Promise<T>;
const ways: [string, () => Work][] = [
  ['sql', () => (work) => work(database.sql)],
  ['sqlTransaction', () => (work) => database.sqlTransaction(work)],
  ['a transaction of Prisma', () => (work) => database.transaction(work)],
];

describe.each(ways)('over %s', (_, way) => {
  test('rows are read, written and counted', async () => {
    await way()(async (tx) => {
      const third = db(tx).insertInto('things').values({ id: 3, name: 'third', size: 7, parent_id: 1 });
      expect(await third.returning(['name', 'size', 'parent_id']).execute()).toEqual([
        { name: 'third', size: 7, parent_id: 1 },
      ]);
      expect((await grow(tx, 3).executeTakeFirstOrThrow()).numUpdatedRows).toBe(1n);
      expect((await grow(tx, 99).executeTakeFirstOrThrow()).numUpdatedRows).toBe(0n);
      const gone = db(tx).deleteFrom('things').where('id', '=', 3).where('size', '=', 8);
      expect((await gone.executeTakeFirstOrThrow()).numDeletedRows).toBe(1n);
      expect(await names(tx)).toEqual([{ name: 'first' }, { name: 'second' }]);
    });
  });

  test('`anyOf` matches the values of a list, and nothing for an empty one', async () => {
    await way()(async (tx) => {
      const among = (ids: readonly number[]) =>
        db(tx).selectFrom('things').select('id').where('id', '=', anyOf(ids)).orderBy('id').execute();
      expect(await among([2, 9, 1])).toEqual([{ id: 1 }, { id: 2 }]);
      expect(await among([])).toEqual([]);
    });
  });
});

test('a failed transaction writes nothing', async () => {
  const failed = database.sqlTransaction(async (tx) => {
    await grow(tx, 1).execute();
    throw new Error('changed its mind');
  });
  await expect(failed).rejects.toThrow('changed its mind');
  expect(await db(database.sql).selectFrom('things').select('size').where('id', '=', 1).execute()).toEqual([
    { size: 0 },
  ]);
});

test('a query is planned once per connection, however often it is built and however long its list is', async () => {
  const prepared = await database.sqlTransaction(async (tx) => {
    for (const ids of [[1], [1, 2], []])
      await db(tx).selectFrom('things').select('parent_id').where('id', '=', anyOf(ids)).execute();
    return tx.$queryRaw<{ uses: number }[]>`
      SELECT (generic_plans + custom_plans)::int AS uses FROM pg_prepared_statements WHERE statement LIKE 'select "parent_id" from "things"%'`;
  });
  expect(prepared).toEqual([{ uses: 3 }]);
});

test('a day is read as it was written, whatever the time zone of the machine', async () => {
  const { rows } = await sql<{ day: string }>`SELECT ${'2026-03-29'}::date AS day`.execute(db(database.sql));
  expect(rows).toEqual([{ day: '2026-03-29' }]);
});

test('Kysely begins no transactions, as only the Database repeats them and runs their commit hooks', async () => {
  const own = db(database.sql)
    .transaction()
    .execute(async (tx) => tx.selectFrom('things').select('id').execute());
  await expect(own).rejects.toThrow('by the Database');
});
