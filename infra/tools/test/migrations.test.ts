import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { diffFromMigrations } from '../src/migrations/diff.ts';
import { migrationsFolder, schemaFolder, services } from '../src/workspace.ts';

const name = `scratch_${randomBytes(6).toString('hex')}`;
const url = new URL(testServers.postgresUrl());
url.pathname = `/${name}`;

const admin = new pg.Client({ connectionString: testServers.postgresUrl() });
beforeAll(() => admin.connect());
afterAll(async () => {
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.end();
});

test.each(services)('the migrations of %s agree with its schema', async (service) => {
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
  const diff = await diffFromMigrations({
    url: url.href,
    directory: migrationsFolder(service),
    schema: schemaFolder(service),
  });
  expect(diff).toBeNull();
});

test.each(services)(
  'the names of the migrations of %s begin with a timestamp, so that they sort in the order they were written',
  async (service) => {
    const entries = await readdir(migrationsFolder(service), { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isFile()).map((entry) => entry.name);
    expect(names.length).toBeGreaterThan(0);
    for (const migration of names) expect(migration).toMatch(/^20\d{12}_[a-z0-9_]+$/);
  },
);
