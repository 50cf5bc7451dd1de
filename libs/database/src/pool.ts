import pg from 'pg';
import { clientWithin } from './client.ts';
import { type ConnectGate, createConnectGate, type Done } from './connect-gate.ts';

export interface PoolOptions {
  readonly url: string;
  /** The maximal number of connections. */
  readonly size: number;
  /** Milliseconds after which the server cancels a statement. If the server does not respond, the client gives up a second later. */
  readonly statementTimeout: number;
  /** Milliseconds for getting a connection. */
  readonly connectionTimeout: number;
  /** Called for connections that broke while idle. The pool replaces them. */
  readonly onError: (error: Error) => void;
}

/** Milliseconds. Longer than Prisma's own limit, unless a statement may take longer than usual. */
const idleInTransaction = 20_000;

/**
 * Makes the server notice within half a minute that a client has vanished, and release its locks. The default is two
 * hours.
 */
const keepAlive = '-c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3';

/** Dates stay text, `YYYY-MM-DD`: pg would convert them to a moment in the time zone of this machine. */
const getTypeParser: typeof pg.types.getTypeParser = (type: number, format) =>
  type === pg.types.builtins.DATE ? (day: string) => day : pg.types.getTypeParser(type, format as 'text');

/** What all connections of a service have in common. */
export const connectionTo = ({ url, connectionTimeout }: Pick<PoolOptions, 'url' | 'connectionTimeout'>) => ({
  connectionString: url,
  connectionTimeoutMillis: connectionTimeout,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  options: keepAlive,
  types: { getTypeParser },
});

/** A pool on which every wait ends: for a connection, for a response, for a lock. */
export function openPool({ url, size, statementTimeout, connectionTimeout, onError }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionTo({ url, connectionTimeout }),
    max: size,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementTimeout,
    idle_in_transaction_session_timeout: idleInTransaction,
    Client: clientThrough(createConnectGate(), statementTimeout + 1_000) as never,
  });
  pool.on('error', onError);
  // The pool does not listen for errors of connections in use, and an unhandled one would end the process. The connection's
  // next query fails anyway.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The class of a pool's clients, which share its gate. */
const clientThrough = (gate: ConnectGate, limitMs: number) =>
  class extends clientWithin(limitMs) {
    /** The pool, which is all that connects them, gives a callback. */
    override connect(done?: unknown): never {
      gate.attempt((opened) => super.connect(opened), done as Done);
      return undefined as never;
    }
  };

/** Resolves when all connections of the pool are closed: pg's own end() resolves before that. */
export async function closePool(pool: pg.Pool): Promise<void> {
  let open = pool.totalCount;
  const closed = new Promise<void>((resolve) => {
    if (open === 0) resolve();
    pool.on('remove', () => {
      open--;
      if (open === 0) resolve();
    });
  });
  await pool.end();
  await closed;
}
