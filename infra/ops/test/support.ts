import type { RegisteredName } from '@attribution/registry';
import { createTestDatabase } from '@attribution/testing';
import pg from 'pg';
import { runOps } from '../src/run.ts';

type Environment = Readonly<Record<string, string>>;

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command as `npm run ops` does, in the given environment alone. Calls `onNote` with each line of progress. */
export async function ops(
  words: string,
  environment: Environment = {},
  stopping: AbortSignal = new AbortController().signal,
  onNote: (line: string) => void = () => {},
): Promise<Outcome> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runOps(words.split(' ').filter(Boolean), {
    environment: { LOCAL_DIR: '/nowhere', ...environment },
    out: (line) => void out.push(line),
    err(line) {
      err.push(line);
      onNote(line);
    },
    stopping,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

export interface OpenDatabase {
  readonly url: string;
  /** The variable by which a command finds the database. */
  readonly environment: Environment;
  /** Queries the database directly. */
  rows<T = Record<string, unknown>>(sql: string, ...values: readonly unknown[]): Promise<T[]>;
  drop(): Promise<void>;
}

export const urlVariable = (service: RegisteredName) => `${service.toUpperCase()}_DATABASE_URL`;

/** A migrated, empty database of a service. */
export async function openServiceDatabase(service: RegisteredName): Promise<OpenDatabase> {
  const { url, drop } = await createTestDatabase(service);
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => {}); // Idle connections fail when the database is dropped.
  return {
    url,
    environment: { [urlVariable(service)]: url },
    rows: async (sql, ...values) => (await pool.query(sql, [...values])).rows,
    async drop() {
      await pool.end();
      await drop();
    },
  };
}
