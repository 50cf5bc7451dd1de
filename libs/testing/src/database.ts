import { randomBytes } from 'node:crypto';
import {
  type Database,
  type DatabaseOptions,
  openDatabase,
  type PrismaLike,
  type SqlTransaction,
} from '@attribution/database';
import pg from 'pg';
import { templateName, testServers } from './environment.ts';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

async function admin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: testServers.postgresUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A database for one test file: a copy of the service's migrated one. */
export async function createTestDatabase(service: string): Promise<TestDatabase> {
  const name = `test_${service}_${randomBytes(6).toString('hex')}`;
  await admin(`CREATE DATABASE ${name} TEMPLATE ${templateName(service)}`);
  const url = new URL(testServers.postgresUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** A database for SQL only, without a generated Prisma client. */
export const openBareDatabase = (options: DatabaseOptions): Database =>
  openDatabase(options, () => ({ $disconnect: async () => {} }) as unknown as PrismaLike<SqlTransaction>);
