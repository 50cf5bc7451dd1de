import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { EditedMigration, migrate, missingMigrations } from '../src/index.ts';
import { createScratchDatabase, writeMigration } from './support.ts';

let database: Awaited<ReturnType<typeof createScratchDatabase>>;
let directory: string;
beforeEach(async () => {
  database = await createScratchDatabase();
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

const missing = () => missingMigrations({ url: database.url, directory });

const write = (name: string, sql: string) => writeMigration(directory, name, sql);

const first = '20260101000000_first';
const second = '20260102000000_second';

test('a database lacks the migrations that were not applied, in order, and none once it is migrated', async () => {
  await write(second, 'CREATE TABLE b (id int);');
  await write(first, 'CREATE TABLE a (id int);');
  expect(await missing()).toEqual([first, second]);
  await migrate({ url: database.url, directory });
  expect(await missing()).toEqual([]);
});

test('a database that is ahead of the code lacks nothing, because versions overlap during a release', async () => {
  await write(first, 'CREATE TABLE a (id int);');
  await write(second, 'CREATE TABLE b (id int);');
  await migrate({ url: database.url, directory });
  await rm(join(directory, second), { recursive: true });
  expect(await missing()).toEqual([]);
});

test('a migration that was edited since is refused', async () => {
  await write(first, 'CREATE TABLE a (id int);');
  await migrate({ url: database.url, directory });
  await write(first, 'CREATE TABLE a (id bigint);');
  await expect(missing()).rejects.toThrow(EditedMigration);
});
