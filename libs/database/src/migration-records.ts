import pg from 'pg';
import type { Migration } from './migration-files.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Prisma's own table, as `prisma migrate` makes it, so that either tool can continue the other's work. */
const table = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id                      VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum                VARCHAR(64) NOT NULL,
    finished_at             TIMESTAMPTZ,
    migration_name          VARCHAR(255) NOT NULL,
    logs                    TEXT,
    rolled_back_at          TIMESTAMPTZ,
    started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count     INTEGER NOT NULL DEFAULT 0
  )`;

/** Creates the table of records if it is missing. Throws, like Prisma, if the database has tables of unknown origin. */
export async function openRecords(client: Queryable): Promise<void> {
  if (await areThere(client)) return;
  const { rowCount } = await client.query(
    `SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm') LIMIT 1`,
  );
  if (rowCount)
    throw new Error('The database has tables, and no record of the migrations that made them: not migrated.');
  await client.query(table);
}

/** The checksums of the applied migrations, by name. */
export async function readApplied(client: Queryable): Promise<ReadonlyMap<string, string>> {
  if (!(await areThere(client))) return new Map();
  const { rows } = await client.query<{ migration_name: string; checksum: string }>(
    'SELECT migration_name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  return new Map(rows.map((row) => [row.migration_name, row.checksum]));
}

async function areThere(client: Queryable): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS there`,
  );
  return rows[0]?.there === true;
}

/** The script and its record as one query text, which Postgres runs in one transaction: both, or neither. */
export function withItsRecord({ name, sql, checksum }: Migration): string {
  const [quotedName, quotedChecksum] = [pg.escapeLiteral(name), pg.escapeLiteral(checksum)];
  return `${sql}
    ;
    INSERT INTO _prisma_migrations (id, migration_name, checksum, started_at, finished_at, applied_steps_count)
    VALUES (gen_random_uuid(), ${quotedName}, ${quotedChecksum}, now(), clock_timestamp(), 1)`;
}

/** The lock that was held by the scripts of earlier versions, which applied migrations with Prisma's engine. */
const engineScriptLock = 7_236_541_093;

/**
 * Deletes the records of migrations that were begun and not applied. Prisma's engine writes the record before it runs the
 * script, so the record stays if the process is killed. This waits for a script that Postgres still runs after that. The
 * caller must hold the migration lock.
 */
export async function takeBackUnfinished(client: Queryable): Promise<void> {
  if (!(await areThere(client))) return;
  await client.query('SELECT pg_advisory_lock($1), pg_advisory_unlock($1)', [engineScriptLock]);
  await client.query('DELETE FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL');
}
