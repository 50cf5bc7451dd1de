import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { readApplied, takeBackUnfinished, withItsMark } from './migration-marks.ts';

interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** Any number; the same for all that migrate one database. */
const lock = 7_236_541_092;

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
    await client.query('SELECT pg_advisory_lock($1)', [lock]);
    await takeBackUnfinished(client);
    // They spare a start the 5 MB engine when there is nothing to apply, and the engine does not hold them against the files.
    const applied = await readApplied(client);
    refuseEdited(migrations, applied);
    if (migrations.length === applied.size && migrations.every(({ name }) => applied.has(name))) return [];
    return await withSchemaEngine({ url: options.url }, async (engine, scripts) => {
      try {
        const { appliedMigrationNames } = await engine.applyMigrations({
          migrationsList: listOf(options.directory, migrations),
          filters: { externalTables: [], externalEnums: [] },
        });
        return appliedMigrationNames;
      } catch (error) {
        throw scripts.refused ? await takeBack(client, scripts.refused) : error;
      }
    });
  } finally {
    await client.end(); // Ends the lock with the session.
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
  const edited = migrations.find(({ name, sql }) => applied.has(name) && applied.get(name) !== sha256(sql));
  if (!edited) return;
  throw new EditedMigration(
    `The migration ${edited.name} was edited after this database had it: write a new one instead.`,
  );
}

/**
 * The SQL that leads from what the migrations make to what the schema files say; null when they agree.
 * `url` names a scratch database, which is filled.
 */
export async function diffFromMigrations(options: {
  url: string;
  directory: string;
  schema: string;
}): Promise<string | null> {
  const migrations = await readMigrations(options.directory);
  const files = await readSchema(options.schema);
  return withSchemaEngine({ url: options.url, files }, async (engine) => {
    const diff = await engine.diff({
      from: { tag: 'migrations', ...listOf(options.directory, migrations) },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return diff.exitCode === 0 ? null : diff.stdout;
  });
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readFile(join(directory, name, 'migration.sql'), 'utf8') })),
  );
}

/** The `.prisma` files of a folder, which together are one schema. */
async function readSchema(directory: string): Promise<{ path: string; content: string }[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.prisma')).sort();
  return Promise.all(
    names.map(async (name) => ({
      path: join(directory, name),
      content: await readFile(join(directory, name), 'utf8'),
    })),
  );
}

const sha256 = (sql: string) => createHash('sha256').update(sql).digest('hex');

/** The error that says which migration Postgres has just refused, and why, which the engine's own does not. */
async function takeBack(client: pg.Client, refused: Error): Promise<Error> {
  const failed = await takeBackUnfinished(client);
  if (failed === undefined) return refused;
  return new Error(`The migration ${failed} failed and was undone: ${refused.message}`, { cause: refused });
}

function listOf(directory: string, migrations: readonly Migration[]): MigrationList {
  return {
    baseDir: directory,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
    })),
  };
}

/** The engine's bindings keep views of one instance's memory: it is loaded once. */
let loaded: Promise<typeof import('@prisma/schema-engine-wasm/schema_engine_bg')> | undefined;

async function loadSchemaEngine() {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasm = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm')
    .replace(/\.js$/, '_bg.wasm');
  const module = await WebAssembly.compile(await readFile(wasm));
  // The engine waits for its lock by a timer that it never ends, and that would keep the process for 10 s.
  const timers = Object.keys(bindings).filter((name) => name.startsWith('__wbg_setTimeout_'));
  const startTimer = (callback: () => void, milliseconds: number) => setTimeout(callback, milliseconds).unref();
  const imports = { ...bindings, ...Object.fromEntries(timers.map((name) => [name, startTimer])) };
  const instance = await WebAssembly.instantiate(module, { './schema_engine_bg.js': imports as never });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings;
}

/** Prisma's schema engine as WebAssembly: the same that `prisma migrate` runs as a binary (ADR 0003). */
async function withSchemaEngine<T>(
  options: { url: string; files?: { path: string; content: string }[] },
  work: (engine: SchemaEngine, scripts: Scripts) => Promise<T>,
): Promise<T> {
  loaded ??= loadSchemaEngine();
  const bindings = await loaded;
  const pool = new pg.Pool({ connectionString: options.url, max: 2, Client: CatalogClient as never });
  pool.on('error', () => {}); // A lost connection also fails the query, if there is one.
  const scripts: Scripts = { refused: undefined };
  const adapter = bindMigrationAwareSqlAdapterFactory(new MigrationAdapter(pool, scripts));
  const datamodels = options.files?.map((file): [string, string] => [file.path, file.content]);
  const engine = await bindings.SchemaEngine.new({ datamodels }, () => {}, adapter);
  try {
    return await work(engine, scripts);
  } finally {
    engine.free();
    await pool.end();
  }
}

/** The error of the script that Postgres has refused, if it has refused one. */
interface Scripts {
  refused: pg.DatabaseError | undefined;
}

/**
 * Sends a migration whole, so that Postgres applies all of it or nothing. The adapter's own way splits it at every
 * semicolon, those inside function bodies too, and leaves half of a migration that fails.
 */
class MigrationAdapter extends PrismaPg {
  readonly #scripts: Scripts;

  constructor(pool: pg.Pool, scripts: Scripts) {
    super(pool);
    this.#scripts = scripts;
  }

  override async connect() {
    return withCharacters(wholeScripts(await super.connect(), this.#scripts));
  }

  /** The caller's scratch database is the shadow; the adapter's own way makes another one, and still uses this. */
  override connectToShadowDb() {
    return this.connect();
  }
}

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

function wholeScripts(adapter: Adapter, scripts: Scripts): Adapter {
  adapter.executeScript = async (script) => {
    try {
      const pool = adapter.underlyingDriver();
      await pool.query(await withItsMark(pool, script));
    } catch (error) {
      if (error instanceof pg.DatabaseError) scripts.refused = error;
      throw error;
    }
  };
  return adapter;
}

/**
 * Postgres's catalogue is full of the one-letter type "char", which the engine wants as a character. The adapter refuses
 * it, and makes a character of nothing else: so it passes the adapter as a time of day, which no catalogue holds.
 */
const oid = { char: 18, time: 1083 };

class CatalogClient extends pg.Client {
  override query(...given: unknown[]): never {
    const args = [...given];
    const last = args.at(-1);
    if (typeof last === 'function') {
      args[args.length - 1] = (error: unknown, result: pg.QueryResult) => last(error, disguiseCharacters(result));
      return super.query(...(args as [never])) as never;
    }
    const answer: unknown = super.query(...(args as [never]));
    return (answer instanceof Promise ? answer.then(disguiseCharacters) : answer) as never;
  }
}

function disguiseCharacters<R extends pg.QueryResult | undefined>(result: R): R {
  for (const field of result?.fields ?? []) if (field.dataTypeID === oid.char) field.dataTypeID = oid.time;
  return result;
}

function withCharacters(adapter: Adapter): Adapter {
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    const types = result.columnTypes.map((type) => (type === ColumnTypeEnum.Time ? ColumnTypeEnum.Character : type));
    return { ...result, columnTypes: types };
  };
  return adapter;
}
