import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@attribution/database';
import { captureLogs, createTestDatabase, eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { untilMigrated } from '../src/migrated.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let directory: string;
beforeAll(async () => {
  database = await createTestDatabase('campaign');
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
  await mkdir(join(directory, '29990101000000_next'));
  await writeFile(join(directory, '29990101000000_next/migration.sql'), 'CREATE TABLE next (id int);');
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true });
});

const wait = (options: { url?: string; patience: number }, logger = captureLogs().logger) =>
  untilMigrated({ url: database.url, directory, logger, every: 20, ...options });

test('without its migrations it is not started, and says which ones it needs', async () => {
  await expect(wait({ patience: 100 })).rejects.toThrow('lacks the migrations 29990101000000_next. Not started.');
});

test('a database that does not answer is waited for too, and its password is not told', async () => {
  const url = new URL(database.url);
  url.port = '1';
  const { logger, text } = captureLogs();
  await expect(wait({ url: url.href, patience: 100 }, logger)).rejects.toThrow('The database does not answer');
  expect(text()).not.toContain(url.password);
});

test('it goes on when somebody has migrated, and told once what it waits for', async () => {
  const { logger, text } = captureLogs();
  const waited = wait({ patience: 20_000 }, logger);
  await eventually(() => expect(text()).toContain('29990101000000_next'));
  await migrate({ url: database.url, directory });
  await waited;
  expect(text().match(/Waiting for the database/g)).toHaveLength(1);
});
