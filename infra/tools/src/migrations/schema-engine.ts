import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Migration } from '@attribution/database';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

/** Migrations in the engine's own format. */
export function migrationList(directory: string, migrations: readonly Migration[]): MigrationList {
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

/** Loaded once, because the engine's bindings are tied to the memory of one instance. */
let loaded: Promise<typeof import('@prisma/schema-engine-wasm/schema_engine_bg')> | undefined;

async function loadSchemaEngine() {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasm = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm')
    .replace(/\.js$/, '_bg.wasm');
  const module = await WebAssembly.compile(await readFile(wasm));
  // The engine never clears the timer of its lock's timeout, which would keep the process alive for 10 s.
  const timers = Object.keys(bindings).filter((name) => name.startsWith('__wbg_setTimeout_'));
  const startTimer = (callback: () => void, milliseconds: number) => setTimeout(callback, milliseconds).unref();
  const imports = { ...bindings, ...Object.fromEntries(timers.map((name) => [name, startTimer])) };
  const instance = await WebAssembly.instantiate(module, { './schema_engine_bg.js': imports as never });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return bindings;
}

/** Opens Prisma's schema engine as WebAssembly, the same that `prisma migrate` runs as a binary (ADR 3). */
export async function withSchemaEngine<T>(
  options: { url: string; files?: { path: string; content: string }[] },
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  loaded ??= loadSchemaEngine();
  const bindings = await loaded;
  const pool = new pg.Pool({ connectionString: options.url, max: 2, Client: CatalogClient as never });
  pool.on('error', () => {}); // A lost connection also fails the query, if there is one.
  const adapter = bindMigrationAwareSqlAdapterFactory(new MigrationAdapter(pool));
  const datamodels = options.files?.map((file): [string, string] => [file.path, file.content]);
  const engine = await bindings.SchemaEngine.new({ datamodels }, () => {}, adapter);
  try {
    return await work(engine);
  } finally {
    engine.free();
    await pool.end();
  }
}

/**
 * Sends a migration as one script, which Postgres applies completely or not at all. The adapter would split it at every
 * semicolon, even inside function bodies, and leave a failed migration half applied.
 */
class MigrationAdapter extends PrismaPg {
  override async connect() {
    return withCharacters(withWholeScripts(await super.connect()));
  }

  /** Uses the caller's scratch database as the shadow database, instead of creating another one. */
  override connectToShadowDb() {
    return this.connect();
  }
}

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

function withWholeScripts(adapter: Adapter): Adapter {
  adapter.executeScript = async (script) => {
    await adapter.underlyingDriver().query(script);
  };
  return adapter;
}

/**
 * Postgres's catalogue uses the one-letter type "char", which the engine expects as a character. The adapter refuses that
 * type and never returns characters. So it is passed through the adapter as a time of day, which no catalogue contains.
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
    const result: unknown = super.query(...(args as [never]));
    return (result instanceof Promise ? result.then(disguiseCharacters) : result) as never;
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
