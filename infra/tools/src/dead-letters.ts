import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/**
 * `npm run dead-letters -- list [service]`: the events that could not be handled.
 * `npm run dead-letters -- replay <service> [id]`: has one, or all of a service, handled again within two seconds.
 * Of the running `npm start`, or of the database in DATABASE_URL.
 */
const [command, service, id] = process.argv.slice(2);
const databases = await findDatabases();
const chosen =
  service === undefined ? Object.entries(databases) : Object.entries(databases).filter(([name]) => name === service);
if (
  (command !== 'list' && command !== 'replay') ||
  (command === 'replay' && service === undefined) ||
  chosen.length === 0
) {
  const names = Object.keys(databases).join('|');
  console.error(
    `Usage: npm run dead-letters -- list [${names}]\n       npm run dead-letters -- replay <${names}> [id]`,
  );
  process.exit(2);
}
if (id !== undefined && !/^\d+$/.test(id)) {
  console.error(`id: must be the number that list shows, not ${id}`);
  process.exit(2);
}
for (const [name, url] of chosen) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await (command === 'list' ? list(name, client) : replay(name, client));
  } finally {
    await client.end();
  }
}

interface Letter {
  readonly id: string;
  readonly failed_at: Date;
  readonly type: string;
  readonly event_id: string;
  readonly attempts: number;
  readonly error: string;
}

async function list(name: string, client: pg.Client): Promise<void> {
  const { rows } = await client.query<Letter>(
    `SELECT id, failed_at, envelope->>'type' AS type, event_id, attempts, error FROM dead_letters ORDER BY id`,
  );
  console.log(`${name}: ${rows.length === 0 ? 'no dead letters' : `${rows.length} dead letter(s)`}`);
  for (const row of rows) {
    console.log(
      `  ${row.id}  ${row.failed_at.toISOString()}  ${row.type}  ${row.event_id}  ${row.attempts} attempts: ${row.error}`,
    );
  }
}

/** The service itself handles it: by its own code, in one transaction with the letter's end. */
async function replay(name: string, client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    'UPDATE dead_letters SET replay_requested_at = now() WHERE $1::bigint IS NULL OR id = $1::bigint',
    [id ?? null],
  );
  console.log(`${name}: ${rowCount ?? 0} to be replayed; what fails again is listed again`);
}

async function findDatabases(): Promise<Record<string, string>> {
  if (process.env.DATABASE_URL) return { [service ?? 'service']: process.env.DATABASE_URL };
  const note = join(process.env.LOCAL_DIR ?? '.local', 'running.json');
  const text = await readFile(note, 'utf8').catch(() => undefined);
  if (text === undefined) {
    console.error(`Nothing runs here (there is no ${note}), and DATABASE_URL is not set.`);
    process.exit(2);
  }
  return (JSON.parse(text) as { databases: Record<string, string> }).databases;
}
