import { withDeadline } from '@attribution/runtime';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { isSerializationFailure } from './errors.ts';
import { closePool, openPool } from './pool.ts';
import { runSqlTransaction, type Sql, type SqlTransaction, sqlOver } from './sql.ts';

/** The part of a generated Prisma client that is used here. */
export interface PrismaLike<Tx extends SqlTransaction> extends SqlTransaction {
  $transaction<T>(work: (tx: Tx) => Promise<T>, options?: { maxWait?: number; timeout?: number }): Promise<T>;
  $disconnect(): Promise<void>;
}

/** One service's database: its Prisma client and the pool of connections below it. */
export interface Database<Client extends SqlTransaction = SqlTransaction, Tx extends SqlTransaction = Client> {
  readonly prisma: Client;
  readonly pool: pg.Pool;
  /**
   * Runs the work in one transaction: all of it or nothing. Repeated when Postgres found a deadlock or a
   * serialization failure, so the work has no effects outside the database; `afterCommit` is for those.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Prepared statements, outside a transaction: for hot reads. */
  readonly sql: Sql;
  /** As `transaction`, with the same promises, for hot writes: its work speaks prepared SQL and no models. */
  sqlTransaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Reads, all of them of one moment; what others commit meanwhile is not seen. */
  snapshot<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const attempts = 4;
/** Milliseconds: for a free connection, and for a whole transaction. */
const limits = { maxWait: 5_000, timeout: 15_000 };

/** How long connections may take to close, milliseconds. */
const patience = 1_000;

const commitHooks = new WeakMap<SqlTransaction, Set<() => void>>();

/** Runs the work in one transaction, and gives its result once that is committed. */
export type RunTransaction<Tx> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Runs the callback once the transaction has been committed; never when it was rolled back. */
export function afterCommit(tx: SqlTransaction, callback: () => void): void {
  commitHooks.get(tx)?.add(callback);
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections at most. */
  readonly poolSize?: number;
  /** Milliseconds until a statement is given up. Default: 5 s. */
  readonly statementTimeout?: number;
  /** Told of connections that broke while idle; the pool replaces them. */
  readonly onError?: (error: Error) => void;
}

export type NewClient<Client> = (adapter: PrismaPg) => Client;

/** Opens a database. `newClient` makes the service's generated Prisma client over the adapter. */
export function openDatabase<Client extends PrismaLike<Tx>, Tx extends SqlTransaction>(
  options: DatabaseOptions,
  newClient: NewClient<Client>,
): Database<Client, Tx> {
  const pool = openPool({
    url: options.url,
    size: options.poolSize ?? 10,
    statementTimeout: options.statementTimeout ?? 5_000,
    onError: (error) => options.onError?.(error),
  });
  const nameOf = statementNames();
  const prisma = newClient(new PrismaPg(pool, { statementNameGenerator: nameOf }));

  return {
    prisma,
    pool,
    transaction: (work) => repeated((inOne) => prisma.$transaction(inOne, limits), work),
    sql: sqlOver(pool, nameOf),
    sqlTransaction: (work) => repeated((inOne) => runSqlTransaction(pool, nameOf, inOne), work),
    snapshot: (work) => runSqlTransaction(pool, nameOf, work, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    async ping() {
      await pool.query('SELECT 1');
    },
    async close() {
      const closed = prisma.$disconnect().then(() => closePool(pool));
      // A server that hangs does not say goodbye.
      await withDeadline(Date.now() + patience, closed);
    },
  };
}

/** Runs the work in a transaction, again when Postgres asks for that, and afterwards what waits for the commit. */
async function repeated<Tx extends SqlTransaction, T>(
  run: RunTransaction<Tx>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const hooks = new Set<() => void>();
    try {
      const result = await run(async (tx) => {
        commitHooks.set(tx, hooks);
        return work(tx);
      });
      for (const hook of hooks) hook();
      return result;
    } catch (error) {
      if (attempt === attempts || !isSerializationFailure(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
    }
  }
}

/** Prepared statements are kept by name; the cap bounds what lists of varying length could add. */
function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= 500) return '';
    const name = `q${names.size}`;
    names.set(sql, name);
    return name;
  };
}
