import { join } from 'node:path';
import { migrate } from '@attribution/database';
import { createTestDatabase, type TestDatabase } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';

const directory = join(import.meta.dirname, '../prisma/migrations');
const tables = [
  ...['outbox', 'inbox', 'dead_letters', 'projection_tombstones', 'projection_snapshots'],
  ...['idempotency_keys', 'known_groups'],
];

const opened: { drop(): Promise<void> }[] = [];
let old: TestDatabase;
let fresh: TestDatabase;
beforeEach(async () => {
  [old, fresh] = [await createTestDatabase('campaign'), await createTestDatabase('campaign')];
  opened.push(old, fresh);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.drop()));
});

async function inDatabase<T>({ url }: TestDatabase, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Columns, constraints and indexes of the tables that every service has. */
const describeTables = (database: TestDatabase) =>
  inDatabase(database, async (client) => {
    const { rows } = await client.query(
      `SELECT table_name AS table, column_name || ' ' || data_type || ' ' || is_nullable || coalesce(' ' || column_default, '') AS what
         FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ANY($1)
       UNION ALL
       SELECT conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)
         FROM pg_constraint WHERE conrelid::regclass::text = ANY($1)
       UNION ALL
       SELECT tablename, indexdef FROM pg_indexes WHERE tablename = ANY($1)
       ORDER BY 1, 2`,
      [tables],
    );
    return rows;
  });

test('the common migrations give a new service the tables that the first services made one by one', async () => {
  await inDatabase(fresh, (client) => client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));
  expect(await migrate({ url: fresh.url, directory })).toEqual([
    '20261122090000_every_service',
    '20261122090100_known_groups',
  ]);
  const made = await describeTables(fresh);
  expect(new Set(made.map(({ table }) => table))).toEqual(new Set(tables));
  expect(made).toEqual(await describeTables(old));
});
