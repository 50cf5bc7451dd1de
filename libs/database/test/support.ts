import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testServers } from '@attribution/testing';
import pg from 'pg';
import {
  type Database,
  type DatabaseOptions,
  type NewClient,
  openDatabase,
  type PrismaLike,
  type SqlTransaction,
} from '../src/index.ts';

const services = join(import.meta.dirname, '../../../services');

/** An empty database for one test. */
export async function createScratchDatabase() {
  const name = `scratch_${randomBytes(6).toString('hex')}`;
  const url = new URL(testServers.postgresUrl());
  url.pathname = `/${name}`;
  await asAdmin(`CREATE DATABASE ${name}`);
  return { url: url.href, drop: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

export async function writeMigration(directory: string, name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  await writeFile(join(directory, name, 'migration.sql'), sql);
}

async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: testServers.postgresUrl() });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

const schema = `
generator client {
  provider               = "prisma-client"
  output                 = "./prisma"
  runtime                = "nodejs"
  moduleFormat           = "esm"
  generatedFileExtension = "ts"
  importFileExtension    = "ts"
}

datasource db {
  provider = "postgresql"
}

model Thing {
  id        Int     @id
  name      String  @unique
  size      Int     @default(0)
  parent_id Int?
  parent    Thing?  @relation("parts", fields: [parent_id], references: [id], onDelete: Restrict)
  parts     Thing[] @relation("parts")

  @@map("things")
}
`;

const tables = `
  CREATE TABLE things (
    id int PRIMARY KEY,
    name text NOT NULL UNIQUE,
    size int NOT NULL DEFAULT 0 CHECK (size >= 0),
    parent_id int REFERENCES things (id) ON DELETE RESTRICT
  );
  INSERT INTO things (id, name) VALUES (1, 'first'), (2, 'second');
`;

interface Thing {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly parent_id: number | null;
}
interface Things extends SqlTransaction {
  readonly thing: {
    create(query: { data: Partial<Thing> }): Promise<Thing>;
    update(query: { where: { id: number }; data: Partial<Thing> }): Promise<Thing>;
    delete(query: { where: { id: number } }): Promise<Thing>;
    findUniqueOrThrow(query: { where: { id: number } }): Promise<Thing>;
  };
}
interface ThingsClient extends PrismaLike<Things>, Things {}
export type ThingsDatabase = Database<ThingsClient, Things>;

/** A database with a few rows, and a Prisma client that is generated for it. `way` may put a proxy in between. */
export async function openThings(
  options: Partial<DatabaseOptions> = {},
  way: (url: string) => Promise<string> = async (url) => url,
) {
  const directory = await mkdtemp(join(tmpdir(), 'things-'));
  const newClient = await generateClient(directory);
  const { url, drop } = await createScratchDatabase();
  const database: ThingsDatabase = openDatabase<ThingsClient, Things>({ ...options, url: await way(url) }, newClient);
  await database.pool.query(tables);
  return {
    ...database,
    async drop() {
      await database.close();
      await drop();
      await rm(directory, { recursive: true });
    },
  };
}

async function generateClient(directory: string): Promise<NewClient<ThingsClient>> {
  const { resolve } = createRequire(import.meta.url);
  const schemaFile = join(directory, 'schema.prisma');
  await writeFile(schemaFile, schema);
  // `prisma generate` checks for an engine binary that it does not use.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const generate = [resolve('prisma/build/index.js'), 'generate', '--no-hints', '--schema', schemaFile];
  await promisify(execFile)(process.execPath, generate, { env });
  // The client's runtime is a dependency of the services only, so it is linked from one of them.
  const [service = ''] = await readdir(services);
  await mkdir(join(directory, 'node_modules/@prisma'), { recursive: true });
  await symlink(join(services, service, 'node_modules/@prisma/client'), join(directory, 'node_modules/@prisma/client'));
  const { PrismaClient } = (await import(join(directory, 'prisma/client.ts'))) as {
    PrismaClient: new (options: object) => ThingsClient;
  };
  return (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' });
}

/** A barrier: calls wait until `count` of them have been made. Later calls pass. */
export function meetingOf(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let missing = count;
  return () => {
    missing--;
    if (missing === 0) all.resolve();
    return all.promise;
  };
}
