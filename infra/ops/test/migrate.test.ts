import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { ops, urlVariable } from './support.ts';

const folder = join(import.meta.dirname, '../../../services/campaign/prisma/migrations');
const names = readdirSync(folder).filter((name) => /^\d/.test(name));
const name = `ops_${randomBytes(6).toString('hex')}`;
const url = new URL(testServers.postgresUrl());
url.pathname = `/${name}`;
const environment = { [urlVariable('campaign')]: url.href };

const admin = new pg.Client({ connectionString: testServers.postgresUrl() });
beforeAll(async () => {
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
});
afterAll(async () => {
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.end();
});

test('a dry run lists the pending migrations and applies none; the real run applies exactly those, once', async () => {
  const pending = [`campaign: ${names.length} migrations pending`, ...names.map((one) => `  ${one}`)];
  for (const _ of [1, 2]) {
    const dry = await ops('migrate campaign --dry-run', environment);
    expect([dry.code, dry.out.split('\n')]).toEqual([0, pending]);
  }
  const real = await ops('migrate', environment);
  expect(real.code).toBe(0);
  expect(real.out.split('\n').slice(1, -1)).toEqual(names.map((one) => `  ${one}   applied`));
  expect(await ops('migrate', environment)).toEqual({ code: 0, out: 'campaign: up to date', err: '' });
});

test('a migration that was edited after it was applied is refused', async () => {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`UPDATE _prisma_migrations SET checksum = 'another' WHERE migration_name = $1`, [names[0]]);
  await client.end();
  for (const words of ['migrate', 'migrate --dry-run']) {
    const { code, err } = await ops(words, environment);
    expect([code, err]).toEqual([1, expect.stringMatching(/^✗ campaign: edited migration: .* was edited/)]);
  }
});
