import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@attribution/servers';
import { diffFromMigrations } from './migrations/diff.ts';
import { migrationsFolder, schemaFolder, services } from './workspace.ts';

/** `npm run migration -- <service> <name>`: writes the migration from the latest one to the current schema. */
const [service = '', name = ''] = process.argv.slice(2);
if (!services.includes(service) || !/^[a-z0-9_]+$/.test(name)) {
  console.error(`Usage: npm run migration -- <${services.join('|')}> <name_in_snake_case>`);
  process.exit(2);
}

const scratch = await mkdtemp(join(tmpdir(), 'migration-'));
const postgres = await startPostgres({ directory: join(scratch, 'postgres'), password: 'scratch', durable: false });
try {
  await postgres.createDatabase('scratch');
  const sql = await diffFromMigrations({
    url: postgres.url('scratch'),
    directory: migrationsFolder(service),
    schema: schemaFolder(service),
  });
  if (sql === null) {
    console.log(`${service}: the migrations already agree with the schema.`);
  } else {
    const stamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
    const folder = join(migrationsFolder(service), `${stamp}_${name}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'migration.sql'), sql);
    console.log(
      `Wrote ${folder}. Review it, add what a schema cannot express (checks, triggers, rows), and commit it.`,
    );
  }
} finally {
  await postgres.stop();
  await rm(scratch, { recursive: true, force: true });
}
