import { randomBytes } from 'node:crypto';
import { templateName } from '@attribution/testing';
import pg from 'pg';

export interface Statements {
  /** Runs one statement on a connection of its own. */
  sql(text: string, values?: readonly unknown[]): Promise<void>;
}

export interface BenchDatabase extends Statements {
  readonly url: string;
  drop(): Promise<void>;
}

/** Runs each statement in several databases. */
export const statementsOn = (...urls: readonly string[]): Statements => ({
  sql: async (text, values) => void (await Promise.all(urls.map((url) => once(url, text, values)))),
});

/** Creates a database for a service as a copy of its migrated, empty template. */
export async function createBenchDatabase(postgresUrl: string, service: string): Promise<BenchDatabase> {
  const name = `bench_${service}_${randomBytes(6).toString('hex')}`;
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  await once(postgresUrl, `CREATE DATABASE ${name} TEMPLATE ${templateName(service)}`);
  return {
    url: url.href,
    sql: (text, values) => once(url.href, text, values),
    drop: () => once(postgresUrl, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

async function once(url: string, text: string, values: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text, [...values]);
  } finally {
    await client.end();
  }
}
