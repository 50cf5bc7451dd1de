import type pg from 'pg';
import { clientWithin } from './client.ts';
import { connectionTo } from './pool.ts';
import { type Sql, sqlOver } from './sql.ts';

interface SessionOptions {
  readonly url: string;
  /** Milliseconds for getting the connection. */
  readonly connectionTimeout: number;
  /** Cancels what the session runs. */
  readonly pool: pg.Pool;
  readonly signal: AbortSignal | undefined;
}

/** Statements may take as long as they need. */
const SessionClient = clientWithin();

/** Runs the work on a connection of its own, and ends that. */
export async function runSession<T>(
  { url, connectionTimeout, pool, signal }: SessionOptions,
  work: (session: Sql) => PromiseLike<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const client = new SessionClient(connectionTo({ url, connectionTimeout }));
  // An unhandled error of a connection would end the process. The next statement fails anyway.
  client.on('error', () => {});
  let server: number | undefined;
  const cancel = () => {
    // Without this the server would go on with the statement, and notice that nobody waits when it sends the result.
    if (server !== undefined) pool.query('SELECT pg_cancel_backend($1)', [server]).catch(() => {});
    client.end().catch(() => {});
  };
  try {
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    server = rows[0]?.pid;
    signal?.throwIfAborted();
    signal?.addEventListener('abort', cancel);
    return await work(sqlOver(client, () => ''));
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    await client.end().catch(() => {});
  }
}
