import { withDeadline } from '@attribution/runtime';
import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { isSerializationFailure } from './errors.ts';
import { closePool, openPool } from './pool.ts';
import { runSession } from './session.ts';
import { runSqlTransaction, type Sql, type SqlTransaction, sqlOver } from './sql.ts';

/** What this library uses of a generated Prisma client. */
export interface PrismaLike<Tx extends SqlTransaction> extends SqlTransaction {
  $transaction<T>(work: (tx: Tx) => Promise<T>, options?: { maxWait?: number; timeout?: number }): Promise<T>;
  $disconnect(): Promise<void>;
}

/** One service's database: its Prisma client and the pool of connections below it. */
export interface Database<Client extends SqlTransaction = SqlTransaction, Tx extends SqlTransaction = Client> {
  readonly prisma: Client;
  readonly pool: pg.Pool;
  /**
   * Runs the work in one transaction. It is repeated after a deadlock or a serialization failure, so the work must have no
   * effects outside the database; those belong into `afterCommit`.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs prepared statements outside a transaction, for frequent reads. */
  readonly sql: Sql;
  /** Like `transaction`, for frequent writes: the work uses prepared SQL instead of models. */
  sqlTransaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Runs reads that all see the same moment: commits of others in the meantime are not visible. */
  snapshot<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs the work on a connection of its own, without a transaction: its statements may take as long as they need, and its
   * temporary tables go with it. After `signal` it is cancelled, and rejects.
   */
  session<T>(work: (session: Sql) => PromiseLike<T>, signal?: AbortSignal): Promise<T>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const attempts = 4;
/** Milliseconds that Prisma waits longer than the pool for a connection, and for a whole transaction longer than for a statement. */
const reserve = { connection: 2_000, transaction: 10_000 };

/** For closing the connections. */
const closeTimeoutMs = 1_000;

const commitHooks = new WeakMap<SqlTransaction, Set<() => void>>();

/** Runs the work in one transaction, and resolves with its result after the commit. */
export type RunTransaction<Tx> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Runs the callback after the transaction was committed, and never if it was rolled back. */
export function afterCommit(tx: SqlTransaction, callback: () => void): void {
  commitHooks.get(tx)?.add(callback);
}

export interface DatabaseOptions {
  readonly url: string;
  /** The maximal number of connections. */
  readonly poolSize?: number;
  /** Milliseconds after which a statement is cancelled. Default: 5 s. */
  readonly statementTimeout?: number;
  /** Milliseconds for getting a connection. Default: 3 s. */
  readonly connectionTimeout?: number;
  /** Called for connections that broke while idle. The pool replaces them. */
  readonly onError?: (error: Error) => void;
}

export type NewClient<Client> = (adapter: PrismaPg) => Client;

/** Opens a database. `newClient` makes the service's generated Prisma client over the adapter. */
export function openDatabase<Client extends PrismaLike<Tx>, Tx extends SqlTransaction>(
  options: DatabaseOptions,
  newClient: NewClient<Client>,
): Database<Client, Tx> {
  const { url, statementTimeout = 5_000, connectionTimeout = 3_000 } = options;
  const limits = { maxWait: connectionTimeout + reserve.connection, timeout: statementTimeout + reserve.transaction };
  const pool = openPool({
    url,
    size: options.poolSize ?? 10,
    statementTimeout,
    connectionTimeout,
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
    session: (work, signal) => runSession({ url, connectionTimeout, pool, signal }, work),
    async ping() {
      await pool.query('SELECT 1');
    },
    async close() {
      const closed = prisma.$disconnect().then(() => closePool(pool));
      // A hanging server does not respond to the close.
      await withDeadline(Date.now() + closeTimeoutMs, closed);
    },
  };
}

/** Runs the work in a transaction, repeats it after a deadlock or serialization failure, and then runs the commit hooks. */
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

/** Names the statements that are prepared. The cap bounds what statements of varying length could add to each connection. */
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
