import type { ClientBase, Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';

/** What a Prisma transaction offers to code that speaks SQL itself. */
export interface SqlTransaction {
  $executeRawUnsafe(sql: string, ...values: unknown[]): PromiseLike<number>;
  $queryRawUnsafe<T = unknown>(sql: string, ...values: unknown[]): PromiseLike<T>;
}

/** A statement and its values, separately. `Prisma.sql` composes them. */
export interface SqlText {
  readonly text: string;
  readonly values: readonly unknown[];
}

type Statement = TemplateStringsArray | SqlText;

/**
 * SQL as tagged templates, the interface of Prisma's clients and transactions. `Database.sql` and `sqlTransaction` implement
 * it with prepared statements over pg, several times faster (ADR 0009). Values are those that pg accepts: JSON as text.
 */
export interface Sql {
  /** Returns the rows. */
  $queryRaw<T = unknown>(statement: Statement, ...values: readonly unknown[]): PromiseLike<T>;
  /** Returns the number of changed rows. */
  $executeRaw(statement: Statement, ...values: readonly unknown[]): PromiseLike<number>;
  $queryRawUnsafe<T = unknown>(sql: string, ...values: readonly unknown[]): PromiseLike<T>;
  $executeRawUnsafe(sql: string, ...values: readonly unknown[]): PromiseLike<number>;
}

type Queryable = Pick<ClientBase | Pool, 'query'>;
/** The name under which a statement is prepared; empty for a statement that is not prepared. */
export type NameOf = (statement: { sql: string }) => string;

/** SQL over a connection, or over a pool. */
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

/** The text of each template, composed once: a template literal is the same object at every evaluation. */
const texts = new WeakMap<TemplateStringsArray, string>();

function textOf(template: TemplateStringsArray): string {
  let text = texts.get(template);
  if (text === undefined) {
    text = template.reduce((before, part, index) => `${before}$${index}${part}`);
    texts.set(template, text);
  }
  return text;
}

/** Runs the work between `begin` and COMMIT on one connection of the pool. */
export const runSqlTransaction = <T>(
  pool: Pool,
  nameOf: NameOf,
  work: (tx: Sql) => Promise<T>,
  begin?: string,
): Promise<T> => inTransaction(pool, (client) => work(sqlOver(client, nameOf)), begin);

/** Like `runSqlTransaction`, with the connection itself. */
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
    // If a statement failed and the work swallowed the error, Postgres responds to COMMIT with ROLLBACK.
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
