import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, missingMigrations, readMigrations } from '@attribution/database';
import { testServers } from '@attribution/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { diffFromMigrations } from '../src/migrations/diff.ts';
import { migrationList, withSchemaEngine } from '../src/migrations/schema-engine.ts';

const first = '20260101000000_first';
const second = '20260102000000_second';
const name = `scratch_${randomBytes(6).toString('hex')}`;
const location = new URL(testServers.postgresUrl());
location.pathname = `/${name}`;
const url = location.href;

let directory: string;
beforeEach(async () => {
  await administer(`CREATE DATABASE ${name}`);
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await administer(`DROP DATABASE ${name} WITH (FORCE)`);
  await rm(directory, { recursive: true });
});

async function administer(sql: string): Promise<void> {
  const admin = new pg.Client({ connectionString: testServers.postgresUrl() });
  await admin.connect();
  await admin.query(sql).finally(() => admin.end());
}

async function write(migration: string, sql: string): Promise<void> {
  await mkdir(join(directory, migration), { recursive: true });
  await writeFile(join(directory, migration, 'migration.sql'), sql);
}

describe('Prisma’s engine and our own way of applying migrations', () => {
  const run = () => migrate({ url, directory });
  const runEngine = () =>
    withSchemaEngine({ url }, async (engine) => {
      const migrationsList = migrationList(directory, await readMigrations(directory));
      const filters = { externalTables: [], externalEnums: [] };
      return (await engine.applyMigrations({ migrationsList, filters })).appliedMigrationNames;
    });

  test('recognise migrations that the other has applied', async () => {
    await write(first, 'CREATE TABLE a (id int);');
    expect(await runEngine()).toEqual([first]);
    expect(await run()).toEqual([]);
    expect(await missingMigrations({ url, directory })).toEqual([]);
    await write(second, 'CREATE TABLE b (id int);');
    expect(await run()).toEqual([second]);
    expect(await runEngine()).toEqual([]);
  });

  test('create the same table of applied migrations', async () => {
    const columns = async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client
        .query(
          `SELECT column_name, data_type, character_maximum_length, is_nullable, column_default
           FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`,
        )
        .finally(() => client.end());
      return rows;
    };
    await write(first, 'CREATE TABLE a (id int);');
    await run();
    const ours = await columns();
    await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    await administer(`CREATE DATABASE ${name}`);
    await runEngine();
    expect(ours).toHaveLength(8);
    expect(await columns()).toEqual(ours);
  });
});

describe('the difference between the migrations and the schema', () => {
  const model = (fields: string) => `
    datasource db {
      provider = "postgresql"
    }
    model Thing {
      id   Int    @id
      name String @unique
      ${fields}
      @@map("things")
    }`;

  async function diff(fields: string): Promise<string | null> {
    const table =
      'CREATE TABLE "things" ("id" INTEGER NOT NULL, "name" TEXT NOT NULL, CONSTRAINT "things_pkey" PRIMARY KEY ("id"));';
    await write(first, `${table} CREATE UNIQUE INDEX "things_name_key" ON "things" ("name");`);
    const schema = await mkdtemp(join(tmpdir(), 'schema-'));
    await writeFile(join(schema, 'schema.prisma'), model(fields));
    return diffFromMigrations({ url, directory, schema }).finally(() => rm(schema, { recursive: true }));
  }

  test('is null if they agree', async () => {
    expect(await diff('')).toBeNull();
  });

  test('is the missing SQL if they do not', async () => {
    expect(await diff('size Int @default(0)')).toContain(
      'ALTER TABLE "things" ADD COLUMN     "size" INTEGER NOT NULL DEFAULT 0;',
    );
  });
});
