import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readMigrations } from '@attribution/database';
import { migrationList, withSchemaEngine } from './schema-engine.ts';

/**
 * The SQL that changes a database made by the migrations into one that agrees with the schema files; null if it agrees
 * already. `url` is a scratch database, to which the migrations are applied.
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
      from: { tag: 'migrations', ...migrationList(options.directory, migrations) },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return diff.exitCode === 0 ? null : diff.stdout;
  });
}

/** Reads the `.prisma` files of a folder, which together are one schema. */
async function readSchema(directory: string): Promise<{ path: string; content: string }[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.prisma')).sort();
  return Promise.all(
    names.map(async (name) => ({
      path: join(directory, name),
      content: await readFile(join(directory, name), 'utf8'),
    })),
  );
}
