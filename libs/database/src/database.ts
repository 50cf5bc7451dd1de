import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { hooked, useUpHook } from './transaction-hook.ts';

/** What a Prisma transaction offers to code that speaks SQL itself. */
export interface SqlTransaction {
  $executeRawUnsafe(sql: string, ...values: unknown[]): PromiseLike<number>;
  $queryRawUnsafe<T = unknown>(sql: string, ...values: unknown[]): PromiseLike<T>;
}

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
  ping(): Promise<void>;
  close(): Promise<void>;
}

const attempts = 4;
/** Milliseconds: for a free connection, and for a whole transaction. */
const limits = { maxWait: 5_000, timeout: 15_000 };

const commitHooks = new WeakMap<SqlTransaction, Set<() => void>>();

/** Runs the callback once the transaction has been committed; never when it was rolled back. */
export function afterCommit(tx: SqlTransaction, callback: () => void): void {
  commitHooks.get(tx)?.add(callback);
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections at most. */
  readonly poolSize?: number;
  /** Told of connections that broke while idle; the pool replaces them. */
  readonly onError?: (error: Error) => void;
}

export type NewClient<Client> = (adapter: PrismaPg) => Client;

/** Opens a database. `newClient` makes the service's generated Prisma client over the adapter. */
export function openDatabase<Client extends PrismaLike<Tx>, Tx extends SqlTransaction>(
  options: DatabaseOptions,
  newClient: NewClient<Client>,
): Database<Client, Tx> {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
  });
  pool.on('error', (error) => options.onError?.(error));
  // The pool does not listen to what it lends: a connection that broke just then would end the process. Its next query fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  const prisma = newClient(new PrismaPg(pool, { statementNameGenerator: statementNames() }));

  async function once<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const hooks = new Set<() => void>();
    const result = await prisma.$transaction(async (tx) => {
      commitHooks.set(tx, hooks);
      return hooked(tx, work);
    }, limits);
    useUpHook();
    for (const hook of hooks) hook();
    return result;
  }

  return {
    prisma,
    pool,
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await once(work);
        } catch (error) {
          if (attempt === attempts || !isSerializationFailure(error)) throw error;
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
        }
      }
    },
    async ping() {
      await pool.query('SELECT 1');
    },
    async close() {
      await prisma.$disconnect();
      const closed = connectionsClosed(pool);
      await pool.end();
      await closed;
    },
  };
}

/** Resolves when the pool's connections are gone: its own end() resolves while they are still on their way out. */
function connectionsClosed(pool: pg.Pool): Promise<void> {
  let left = pool.totalCount;
  return new Promise((resolve) => {
    if (left === 0) resolve();
    pool.on('remove', () => {
      left--;
      if (left === 0) resolve();
    });
  });
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

/** The SQLSTATE of an error of pg or of Prisma, or Prisma's own code. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at && typeof at === 'object' && depth < 5; depth++) {
    const { code, originalCode, cause, meta } = at as Record<string, unknown>;
    for (const value of [code, originalCode]) if (typeof value === 'string') codes.push(value);
    at = cause ?? (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError;
  }
  return codes;
}

/** Deadlock or serialization failure: the same transaction may well succeed when repeated. */
function isSerializationFailure(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2034' || code === '40001' || code === '40P01');
}

/** A unique constraint stood in the way. */
export function isUniqueViolation(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2002' || code === '23505');
}

/** A foreign key stood in the way; PostgreSQL 18 has a code of its own for those with RESTRICT. */
export function isForeignKeyViolation(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2003' || code === '23503' || code === '23001');
}
