import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testParts } from '@attribution/testing';
import pg from 'pg';
import { type Database, type NewClient, openDatabase, type PrismaLike, type SqlTransaction } from '../src/index.ts';

/** An empty database of the test's own. */
export async function createScratchDatabase() {
  const name = `scratch_${randomBytes(6).toString('hex')}`;
  const url = new URL(testParts.postgresUrl());
  url.pathname = `/${name}`;
  await asAdmin(`CREATE DATABASE ${name}`);
  return { url: url.href, drop: () => asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: testParts.postgresUrl() });
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

/** A database with a few things in it, by a Prisma client that is generated for the test file named. */
export async function openThings(file: string, options: { poolSize?: number; onError?: (error: Error) => void } = {}) {
  const newClient = await generateClient(join(import.meta.dirname, 'generated', file));
  const { url, drop } = await createScratchDatabase();
  const database: ThingsDatabase = openDatabase<ThingsClient, Things>({ url, ...options }, newClient);
  await database.pool.query(tables);
  return {
    ...database,
    url,
    async drop() {
      await database.close();
      await drop();
    },
  };
}

async function generateClient(directory: string): Promise<NewClient<ThingsClient>> {
  const schemaFile = join(directory, 'schema.prisma');
  await mkdir(directory, { recursive: true });
  await writeFile(schemaFile, schema);
  const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
  // Generating asks for an engine binary that it does not need.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  await promisify(execFile)(process.execPath, [prisma, 'generate', '--no-hints', '--schema', schemaFile], { env });
  const { PrismaClient } = (await import(join(directory, 'prisma/client.ts'))) as {
    PrismaClient: new (options: object) => ThingsClient;
  };
  return (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' });
}

/** Lets nobody on before all of them are here; those who come later pass. */
export function meetingOf(count: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let missing = count;
  return () => {
    missing--;
    if (missing === 0) all.resolve();
    return all.promise;
  };
}
