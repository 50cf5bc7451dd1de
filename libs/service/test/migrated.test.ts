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

const wait = (options: { url?: string; timeoutMs: number }, logger = captureLogs().logger) =>
  untilMigrated({ url: database.url, directory, logger, intervalMs: 20, ...options });

test('without its migrations the service is not started, and the error names them', async () => {
  await expect(wait({ timeoutMs: 100 })).rejects.toThrow('lacks the migrations 29990101000000_next. Not started.');
});

test('a database that does not answer is waited for as well, and its password is not logged', async () => {
  const url = new URL(database.url);
  url.port = '1';
  const { logger, text } = captureLogs();
  await expect(wait({ url: url.href, timeoutMs: 100 }, logger)).rejects.toThrow('The database does not answer');
  expect(text()).not.toContain(url.password);
});

test('the wait ends when the migrations are applied, and its reason is logged once', async () => {
  const { logger, text } = captureLogs();
  const waited = wait({ timeoutMs: 20_000 }, logger);
  await eventually(() => expect(text()).toContain('29990101000000_next'));
  await migrate({ url: database.url, directory });
  await waited;
  expect(text().match(/Waiting for the database/g)).toHaveLength(1);
});
