import pg from 'pg';

export interface PoolOptions {
  readonly url: string;
  /** Connections at most. */
  readonly size: number;
  /** Milliseconds until a statement is given up: by the server, or by us a second later if the server says nothing. */
  readonly statementTimeout: number;
  /** Told of connections that broke while idle; the pool replaces them. */
  readonly onError: (error: Error) => void;
}

/** Milliseconds: for a free connection; of a transaction in which nothing happens, longer than Prisma lets one last. */
const limits = { connect: 3_000, idleInTransaction: 20_000 };

/**
 * How soon the server notices that a client has vanished without a word, and frees what that one held: by default
 * after two hours.
 */
const keepAlive = '-c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';

/** A day is read as it is written, `YYYY-MM-DD`: pg would make a moment of it, by the time zone of this machine. */
const getTypeParser: typeof pg.types.getTypeParser = (type: number, format) =>
  type === pg.types.builtins.DATE ? (day: string) => day : pg.types.getTypeParser(type, format as 'text');

/** A pool on which nothing waits for ever: neither for a connection, nor for an answer, nor for another's lock. */
export function openPool({ url, size, statementTimeout, onError }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: limits.connect,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementTimeout,
    query_timeout: statementTimeout + 1_000,
    idle_in_transaction_session_timeout: limits.idleInTransaction,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    options: keepAlive,
    types: { getTypeParser },
    Client: ImpatientClient as never,
  });
  pool.on('error', onError);
  // The pool does not listen to what it lends: a connection that broke just then would end the process. Its next query fails.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/**
 * Ends with its first query that got no answer. pg itself would go on: the statement may still be carried out, what is
 * sent next waits behind it, and a rollback that times out too is never sent, so that the next transaction on this
 * connection would commit half of this one.
 */
class ImpatientClient extends pg.Client {
  override query(...given: unknown[]): never {
    const answer: unknown = super.query(...(given as [never]));
    // With a callback it is the pool that asks, and that throws connections away at any error.
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (isSilence(error)) void this.end();
      });
    }
    return answer as never;
  }
}

/** pg's own word for it; it has no code. */
const isSilence = (error: unknown) => error instanceof Error && error.message === 'Query read timeout';

/** Resolves when the pool's connections are gone: its own end() resolves while they are still on their way out. */
export async function closePool(pool: pg.Pool): Promise<void> {
  let left = pool.totalCount;
  const gone = new Promise<void>((resolve) => {
    if (left === 0) resolve();
    pool.on('remove', () => {
      left--;
      if (left === 0) resolve();
    });
  });
  await pool.end();
  await gone;
}
