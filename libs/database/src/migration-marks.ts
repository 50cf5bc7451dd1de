import pg from 'pg';

/** Any number; held by the transaction that a migration's script is. */
const lock = 7_236_541_093;

const unfinished = 'finished_at IS NULL AND rolled_back_at IS NULL';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** The checksums of the migrations that the database has had, by name. */
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

/**
 * The script together with the end of its mark, in one transaction: a mark is finished when, and only when, the script
 * has been applied, whoever is killed in between. The script as it is where it is no migration's.
 */
export async function withItsMark(client: Queryable, script: string): Promise<string> {
  if (!(await areThere(client))) return script;
  const { rows } = await client.query<{ id: string }>(`SELECT id FROM _prisma_migrations WHERE ${unfinished}`);
  const [mark] = rows;
  if (!mark) return script;
  const mine = `id = ${pg.escapeLiteral(mark.id)} AND ${unfinished}`;
  // One that was sent by a process that is gone by now, and comes after another has taken its mark back, is refused.
  return `
    DO $migration$ BEGIN
      PERFORM pg_advisory_xact_lock(${lock});
      IF NOT EXISTS (SELECT FROM _prisma_migrations WHERE ${mine}) THEN
        RAISE EXCEPTION 'Another process has begun this migration anew';
      END IF;
    END $migration$;
    ${script}
    ;
    UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE ${mine}`;
}

/**
 * Takes back the marks of what was not applied: its process was killed, or Postgres refused the script, and so undid all
 * of it. Waits for a script that goes on without its process. For whoever has the lock of all that migrate. Resolves
 * with the name of one of them.
 */
export async function takeBackUnfinished(client: Queryable): Promise<string | undefined> {
  if (!(await areThere(client))) return undefined;
  await client.query('SELECT pg_advisory_lock($1), pg_advisory_unlock($1)', [lock]);
  const { rows } = await client.query<{ migration_name: string }>(
    `DELETE FROM _prisma_migrations WHERE ${unfinished} RETURNING migration_name`,
  );
  return rows[0]?.migration_name;
}
