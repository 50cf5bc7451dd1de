import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { migrate } from '../src/index.ts';
import { createScratchDatabase, writeMigration } from './support.ts';

let database: Awaited<ReturnType<typeof createScratchDatabase>>;
let client: pg.Client;
let directory: string;
beforeEach(async () => {
  database = await createScratchDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  directory = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await client.end();
  await database.drop();
  await rm(directory, { recursive: true });
});

const run = () => migrate({ url: database.url, directory });

const write = (name: string, sql: string) => writeMigration(directory, name, sql);

async function tableNames(): Promise<string[]> {
  const { rows } = await client.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  return rows.map((row) => row.tablename).filter((name) => name !== '_prisma_migrations');
}

const first = '20260101000000_first';
const second = '20260102000000_second';
const third = '20260103000000_third';

test('migrations are applied in the order of their names, and their names returned', async () => {
  await write(second, 'ALTER TABLE a ADD COLUMN later int;');
  await write(first, 'CREATE TABLE a (id int);');
  expect(await run()).toEqual([first, second]);
  expect(await tableNames()).toEqual(['a']);
});

test('a second run applies nothing, a new migration is applied alone', async () => {
  await write(first, 'CREATE TABLE a (id int);');
  await run();
  expect(await run()).toEqual([]);
  await write(second, 'CREATE TABLE b (id int);');
  expect(await run()).toEqual([second]);
});

test('one of 20 concurrent runs on an empty database applies each migration, and the others find it applied', async () => {
  await write(first, 'CREATE TABLE a (id int); CREATE TABLE runs (n int); INSERT INTO runs VALUES (1);');
  await write(second, 'UPDATE runs SET n = n + 1;');
  const outcomes = await Promise.all(Array.from({ length: 20 }, run));
  expect(outcomes.filter((applied) => applied.length > 0)).toEqual([[first, second]]);
  expect((await client.query('SELECT n FROM runs')).rows).toEqual([{ n: 2 }]);
});

test('semicolons in function bodies, strings and comments do not split a migration', async () => {
  await write(
    first,
    `-- Not; here.
     CREATE TABLE a (id int, note text DEFAULT 'one; two');
     CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$
     DECLARE result int;
     BEGIN
       result := n; -- ; and
       result := result * 2;
       RETURN result;
     END; $$;
     INSERT INTO a VALUES (twice(21));`,
  );
  await run();
  expect((await client.query('SELECT * FROM a')).rows).toEqual([{ id: 42, note: 'one; two' }]);
});

describe('a migration that fails', () => {
  beforeEach(async () => {
    await write(first, 'CREATE TABLE a (id int);');
    await write(second, 'CREATE TABLE b (id int); INSERT INTO a VALUES (1); SELECT 1 / 0;');
    await write(third, 'CREATE TABLE c (id int);');
  });

  test('reports its name and the reason, and leaves nothing behind; earlier ones stay applied, later ones wait', async () => {
    await expect(run()).rejects.toThrow(`The migration ${second} failed and was undone: division by zero`);
    expect(await tableNames()).toEqual(['a']);
    expect((await client.query('SELECT * FROM a')).rows).toEqual([]);
    const { rows } = await client.query('SELECT migration_name FROM _prisma_migrations');
    expect(rows).toEqual([{ migration_name: first }]);
  });

  test('fails again with the same message, and is applied once it is corrected', async () => {
    await expect(run()).rejects.toThrow('division by zero');
    await expect(run()).rejects.toThrow(`The migration ${second} failed and was undone: division by zero`);
    await write(second, 'CREATE TABLE b (id int);');
    expect(await run()).toEqual([second, third]);
    expect(await tableNames()).toEqual(['a', 'b', 'c']);
  });

  test('fails in each of several concurrent runs, and leaves nothing behind', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, run));
    const reasons = outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason));
    expect(reasons).toEqual(Array(8).fill(`Error: The migration ${second} failed and was undone: division by zero`));
    expect(await tableNames()).toEqual(['a']);
  });
});

test('a migration that was edited after it was applied is refused by name, and new ones are not applied', async () => {
  await write(first, 'CREATE TABLE a (id int);');
  await run();
  await write(first, 'CREATE TABLE a (id bigint);');
  await write(second, 'CREATE TABLE b (id int);');
  await expect(run()).rejects.toThrow(
    `The migration ${first} was edited after this database had it: write a new one instead.`,
  );
  expect(await tableNames()).toEqual(['a']);
});

test('a folder that is older than the database is accepted, so that a release can be rolled back', async () => {
  await write(first, 'CREATE TABLE a (id int);');
  await write(second, 'CREATE TABLE b (id int);');
  await run();
  await rm(join(directory, second), { recursive: true });
  expect(await run()).toEqual([]);
  expect(await tableNames()).toEqual(['a', 'b']);
});

describe('a process that is killed while its migration runs', () => {
  const program = join(import.meta.dirname, 'migrate.process.ts');
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });

  /** Kills the process as soon as Postgres runs the script. */
  async function runAndKill(): Promise<void> {
    const child = spawn(process.execPath, [program, database.url, directory], { stdio: 'ignore' });
    started.push(child);
    await eventually(async () => expect(await scriptsUnderWay()).toBe(1));
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async function scriptsUnderWay(): Promise<number> {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND wait_event = 'PgSleep'`,
    );
    return rowCount ?? 0;
  }

  const slow = 'SELECT pg_sleep(3); CREATE TABLE a (id int); CREATE TABLE runs (n int); INSERT INTO runs VALUES (1);';

  test('leaves Postgres to finish it: the next run waits for that, finds it applied, and continues', async () => {
    await write(first, slow);
    await write(second, 'UPDATE runs SET n = n + 1;');
    await runAndKill();
    expect(await run()).toEqual([second]);
    expect((await client.query('SELECT n FROM runs')).rows).toEqual([{ n: 2 }]);
  });

  test('and whose connection is ended as well has applied nothing: the next run applies the migration once', async () => {
    await write(first, slow);
    await runAndKill();
    await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
    );
    expect(await run()).toEqual([first]);
    expect((await client.query('SELECT n FROM runs')).rows).toEqual([{ n: 1 }]);
    expect(await run()).toEqual([]);
  });

  test('when only its record is written: the next run applies the migration', async () => {
    await write(first, 'CREATE TABLE a (id int);');
    await write(second, 'CREATE TABLE b (id int);');
    await run();
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [second]);
    await client.query('DROP TABLE b');
    expect(await run()).toEqual([second]);
    expect(await tableNames()).toEqual(['a', 'b']);
  });
});

describe('a database that Prisma has migrated', () => {
  /** The state that `prisma migrate deploy` 7 leaves. */
  async function migrateByPrisma(name: string, sql: string): Promise<void> {
    await client.query(`CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
      id                      VARCHAR(36) PRIMARY KEY NOT NULL,
      checksum                VARCHAR(64) NOT NULL,
      finished_at             TIMESTAMPTZ,
      migration_name          VARCHAR(255) NOT NULL,
      logs                    TEXT,
      rolled_back_at          TIMESTAMPTZ,
      started_at              TIMESTAMPTZ NOT NULL DEFAULT now(),
      applied_steps_count     INTEGER NOT NULL DEFAULT 0
    )`);
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, started_at, finished_at, migration_name, applied_steps_count)
       VALUES (gen_random_uuid(), $1, now(), now(), $2, 1)`,
      [createHash('sha256').update(sql).digest('hex'), name],
    );
    await client.query(sql);
  }

  test('is recognized: only new migrations are applied', async () => {
    const sql = 'CREATE TABLE a (id int);\n';
    await write(first, sql);
    await migrateByPrisma(first, sql);
    expect(await run()).toEqual([]);
    await write(second, 'CREATE TABLE b (id int);');
    expect(await run()).toEqual([second]);
    expect(await tableNames()).toEqual(['a', 'b']);
  });

  test('is refused if the text of a migration was another than the file’s', async () => {
    await write(first, 'CREATE TABLE a (id bigint);');
    await migrateByPrisma(first, 'CREATE TABLE a (id int);');
    await expect(run()).rejects.toThrow(`The migration ${first} was edited`);
  });

  test('gets the migrations that Prisma has rolled back', async () => {
    await write(first, 'CREATE TABLE a (id int);');
    await migrateByPrisma(first, 'CREATE TABLE a (id int);');
    await client.query('UPDATE _prisma_migrations SET rolled_back_at = now(), finished_at = NULL');
    await client.query('DROP TABLE a');
    expect(await run()).toEqual([first]);
  });
});

test('a database with tables and without a record of migrations is not changed', async () => {
  await client.query('CREATE TABLE somebodys (id int)');
  await write(first, 'CREATE TABLE a (id int);');
  await expect(run()).rejects.toThrow('no record of the migrations that made them');
  expect(await tableNames()).toEqual(['somebodys']);
});
