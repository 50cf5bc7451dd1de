import pg from 'pg';
import { type Migration, readMigrations } from './migration-files.ts';
import { openRecords, readApplied, takeBackUnfinished, withItsRecord } from './migration-records.ts';
import { type ProcessRole, rightsNow, rightsToCome } from './process-role.ts';

/** An arbitrary number, the same for all processes that migrate one database. */
const lock = 7_236_541_092;
/** The lock of Prisma's own engine, so that a manual `prisma migrate deploy` does not run at the same time. */
const prismaLock = 72_707_369;

/**
 * Applies the missing migrations of a folder in Prisma's format, and returns their names. Several processes may run it at
 * the same time: one applies, the others wait for its lock and find nothing to do. It throws if a migration was edited
 * after it was applied to this database. A migration that fails leaves nothing behind and can be corrected; one whose
 * process is killed is applied completely or not at all, and the next run continues from there. With `processRole`, which
 * must exist, each run also gives that role its rights; `url` is then the owner's.
 */
export async function migrate(options: {
  readonly url: string;
  readonly directory: string;
  readonly processRole?: ProcessRole | undefined;
}): Promise<string[]> {
  const { processRole } = options;
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
    if (processRole) await client.query(rightsToCome(processRole));
    for (const migration of missing) await apply(client, migration);
    if (processRole) await client.query(rightsNow(processRole));
    return missing.map(({ name }) => name);
  } finally {
    await client.end(); // Ends the locks with the session.
  }
}

/**
 * Runs on the connection that holds the locks. If the process is killed, Postgres may still be running the script, and the
 * locks are held until it has ended.
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
 * The names of the migrations that the database lacks. A database that is ahead of the folder lacks none, because during
 * a release the old code runs on the new tables. Throws for edited migrations, like `migrate`.
 */
export async function missingMigrations(options: { url: string; directory: string }): Promise<string[]> {
  const migrations = await readMigrations(options.directory);
  const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on('error', () => {}); // A lost connection fails the query as well.
  try {
    await client.connect();
    const applied = await readApplied(client);
    refuseEdited(migrations, applied);
    return migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name);
  } finally {
    await client.end().catch(() => {});
  }
}

/** The file of a migration is not the one that was applied to the database. */
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
