import { randomBytes } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
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

async function asAdmin(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: testServers.postgresUrl() });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** A pool has ended before its connections have left, and one that is cut then fails the test. So they have half a second. */
const leaving = { looks: 25, everyMs: 20 };

const drop = (name: string) =>
  asAdmin(async (client) => {
    const others = 'SELECT FROM pg_stat_activity WHERE datname = $1';
    for (let looks = 0; looks < leaving.looks && (await client.query(others, [name])).rowCount !== 0; looks++)
      await sleep(leaving.everyMs);
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });

/** A database for one test file: a copy of the service's migrated one. */
export async function createTestDatabase(service: string): Promise<TestDatabase> {
  const name = `test_${service}_${randomBytes(6).toString('hex')}`;
  await asAdmin((client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${templateName(service)}`));
  const url = new URL(testServers.postgresUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => drop(name) };
}

/** A database for SQL only, without a generated Prisma client. */
export const openBareDatabase = (options: DatabaseOptions): Database =>
  openDatabase(options, () => ({ $disconnect: async () => {} }) as unknown as PrismaLike<SqlTransaction>);

/**
 * Leaves deadlocks as they are, so that each ends as a statement timeout: 503. Postgres detects one after a second, and the
 * transaction that it ends is repeated, so that a test would not see it.
 */
export async function keepDeadlocks(db: Pick<pg.Pool, 'query'>): Promise<void> {
  await db.query(`
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''1h''', current_database()); END $$;
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  await setImmediate(); // The pool of the service reads the end of its connections.
}
