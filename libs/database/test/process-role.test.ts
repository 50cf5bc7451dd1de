import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate, missingMigrations } from '../src/index.ts';
import { createScratchDatabase, writeMigration } from './support.ts';

const role = `process_${randomBytes(4).toString('hex')}`;
const password = 'an hour by the sea';
let database: Awaited<ReturnType<typeof createScratchDatabase>>;
let directory: string;
let url: string;

async function ask(sql: string, as: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: as });
  try {
    await client.connect();
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

const run = () => migrate({ url: database.url, directory, processRole: { name: role, appendOnly: ['records'] } });
const asProcess = (sql: string) => ask(sql, url);

beforeAll(async () => {
  database = await createScratchDatabase();
  directory = await mkdtemp(join(tmpdir(), 'process-role-'));
  await ask(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`, testServers.postgresUrl());
  url = Object.assign(new URL(database.url), { username: role, password: encodeURIComponent(password) }).href;
  await writeMigration(
    directory,
    '20260101000000_first',
    'CREATE TABLE rows (id serial, n int); CREATE TABLE records (n int); CREATE VIEW seen AS SELECT n FROM rows;',
  );
  await run();
});
afterAll(async () => {
  await database.drop();
  await ask(`DROP ROLE ${role}`, testServers.postgresUrl());
  await rm(directory, { recursive: true });
});

test('it writes rows, and reads views and the list of migrations', async () => {
  await asProcess('INSERT INTO rows (n) VALUES (1); UPDATE rows SET n = 2; DELETE FROM rows WHERE n = 3');
  expect((await asProcess('SELECT n FROM seen')).rows).toEqual([{ n: 2 }]);
  expect(await missingMigrations({ url, directory })).toEqual([]);
});

test('of an append-only table it reads and adds rows, and neither changes nor deletes them, nor what keeps them', async () => {
  await asProcess('INSERT INTO records VALUES (1)');
  expect((await asProcess('SELECT n FROM records')).rows).toEqual([{ n: 1 }]);
  const refused = [
    ...['UPDATE records SET n = 2', 'DELETE FROM records', 'TRUNCATE records'],
    ...['DROP TABLE records', 'ALTER TABLE records DISABLE TRIGGER ALL', 'ALTER TABLE records RENAME TO others'],
    ...[`ALTER TABLE records OWNER TO ${role}`, `GRANT UPDATE ON records TO ${role}; UPDATE records SET n = 2`],
  ];
  for (const sql of refused) await expect(asProcess(sql)).rejects.toThrow(/permission denied|must be owner/);
  for (const sql of ['CREATE TABLE mine (n int)', 'DROP TABLE rows', 'DELETE FROM _prisma_migrations'])
    await expect(asProcess(sql)).rejects.toThrow(/permission denied|must be owner/);
});

test('a later migration’s tables are its own to write from the moment they exist, and a further run takes back what was given by hand', async () => {
  await ask(`GRANT UPDATE ON records TO ${role}`, database.url);
  await writeMigration(directory, '20260102000000_second', 'CREATE TABLE later (id serial, n int);');
  expect(await run()).toEqual(['20260102000000_second']);
  await asProcess('INSERT INTO later (n) VALUES (1)');
  await expect(asProcess('UPDATE records SET n = 2')).rejects.toThrow('permission denied');
  expect(await run()).toEqual([]);
});

test('what a table may be is not lost when 10 runs meet: each of them ends, and the rights are as before', async () => {
  await Promise.all(Array.from({ length: 10 }, run));
  await asProcess('INSERT INTO rows (n) VALUES (4)');
  await expect(asProcess('DELETE FROM records')).rejects.toThrow('permission denied');
});
