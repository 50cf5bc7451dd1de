import type { ClientBase, Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';

/** What a Prisma transaction offers to code that speaks SQL itself. */
export interface SqlTransaction {
  $executeRawUnsafe(sql: string, ...values: unknown[]): PromiseLike<number>;
  $queryRawUnsafe<T = unknown>(sql: string, ...values: unknown[]): PromiseLike<T>;
}

/** A statement with its values apart: `Prisma.sql` puts one together of parts. */
export interface SqlText {
  readonly text: string;
  readonly values: readonly unknown[];
}

type Statement = TemplateStringsArray | SqlText;

/**
 * SQL as tagged templates. Prisma's clients and transactions speak it; `Database.sql` and `sqlTransaction` do so with
 * prepared statements over pg itself, several times faster (ADR 0009). Values are those that pg takes: JSON as text.
 */
export interface Sql {
  /** The rows. */
  $queryRaw<T = unknown>(statement: Statement, ...values: readonly unknown[]): PromiseLike<T>;
  /** How many rows were changed. */
  $executeRaw(statement: Statement, ...values: readonly unknown[]): PromiseLike<number>;
  $queryRawUnsafe<T = unknown>(sql: string, ...values: readonly unknown[]): PromiseLike<T>;
  $executeRawUnsafe(sql: string, ...values: readonly unknown[]): PromiseLike<number>;
}

type Queryable = Pick<ClientBase | Pool, 'query'>;
/** The name under which a statement is kept prepared; empty for one that is not. */
export type NameOf = (statement: { sql: string }) => string;

/** Speaks over a connection, or over any of a pool. */
export function sqlOver(connection: Queryable, nameOf: NameOf): Sql {
  const run = async (text: string, values: readonly unknown[]): Promise<QueryResult<QueryResultRow>> =>
    connection.query({ name: nameOf({ sql: text }), text, values: [...values] });
  const runStatement = (statement: Statement, values: readonly unknown[]) =>
    'text' in statement ? run(statement.text, statement.values) : run(textOf(statement), values);
  return {
    $queryRaw: async (statement, ...values) => (await runStatement(statement, values)).rows as never,
    $executeRaw: async (statement, ...values) => (await runStatement(statement, values)).rowCount ?? 0,
    $queryRawUnsafe: async (sql, ...values) => (await run(sql, values)).rows as never,
    $executeRawUnsafe: async (sql, ...values) => (await run(sql, values)).rowCount ?? 0,
  };
}

/** A template is one object for as long as its code is loaded: its text is put together once. */
const texts = new WeakMap<TemplateStringsArray, string>();

function textOf(template: TemplateStringsArray): string {
  let text = texts.get(template);
  if (text === undefined) {
    text = template.reduce((before, part, index) => `${before}$${index}${part}`);
    texts.set(template, text);
  }
  return text;
}

/** Runs the work between `begin` and COMMIT on a connection of its own. */
export const runSqlTransaction = <T>(
  pool: Pool,
  nameOf: NameOf,
  work: (tx: Sql) => Promise<T>,
  begin?: string,
): Promise<T> => inTransaction(pool, (client) => work(sqlOver(client, nameOf)), begin);

/** The same with the connection itself. */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
    const { command } = await client.query('COMMIT');
    // A failure that the work swallowed: Postgres answers with what it did instead.
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement of it had failed');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
