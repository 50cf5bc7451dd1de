import pg from 'pg';
import { type Migration, readMigrations } from './migration-files.ts';
import { openRecords, readApplied, takeBackUnfinished, withItsRecord } from './migration-records.ts';

/** Any number; the same for all that migrate one database. */
const lock = 7_236_541_092;
/** The number that Prisma's own engine takes, so that a `prisma migrate deploy` by hand excludes this too. */
const prismaLock = 72_707_369;

/**
 * Brings a database to the state of its migrations folder (Prisma's format) and returns the names applied. Several
 * may run at once: one applies, the others wait for its lock and find nothing to do. Refused when a migration was
 * edited after this database had it. One that fails leaves no trace and can be mended; of one whose process is killed all
 * is applied, or nothing, and the next run goes on from there.
 */
export async function migrate(options: { url: string; directory: string }): Promise<string[]> {
  const migrations = await readMigrations(options.directory);
  const client = new pg.Client({ connectionString: options.url });
  await client.connect();
  try {
    for (const number of [lock, prismaLock]) await client.query('SELECT pg_advisory_lock($1)', [number]);
    await takeBackUnfinished(client);
    const applied = await readApplied(client);
    refuseEdited(migrations, applied);
    const missing = migrations.filter(({ name }) => !applied.has(name));
    if (missing.length > 0) await openRecords(client);
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  } finally {
    await client.end(); // Ends the locks with the session.
  }
}

/**
 * On the connection that holds the locks: the script of a process that was killed keeps them until Postgres has ended it.
 */
async function apply(client: pg.Client, migration: Migration): Promise<void> {
  try {
    await client.query(withItsRecord(migration));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new Error(`The migration ${migration.name} failed and was undone: ${error.message}`, { cause: error });
  }
}

/**
 * The names of the migrations that the database has not had yet. One that is ahead of the folder lacks nothing: while
 * versions change, the old code runs on the new tables. Refused as by `migrate`.
 */
export async function missingMigrations(options: { url: string; directory: string }): Promise<string[]> {
  const migrations = await readMigrations(options.directory);
  const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on('error', () => {}); // A lost connection also fails the query.
  try {
    await client.connect();
    const applied = await readApplied(client);
    refuseEdited(migrations, applied);
    return migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name);
  } finally {
    await client.end().catch(() => {});
  }
}

/** A migration whose file is another than the one that the database has had. */
export class EditedMigration extends Error {
  override readonly name = 'EditedMigration';
}

function refuseEdited(migrations: readonly Migration[], applied: ReadonlyMap<string, string>): void {
  const edited = migrations.find(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum);
  if (!edited) return;
  throw new EditedMigration(
    `The migration ${edited.name} was edited after this database had it: write a new one instead.`,
  );
}
