import type { Pool, PoolClient } from 'pg';

/**
 * Runs the work while holding an advisory lock, on the connection that holds it. Returns undefined at once if the lock is
 * taken. The lock of a process that dies is released with its connection.
 */
export async function withAdvisoryLock<T>(
  pool: Pool,
  name: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T | undefined> {
  return withConnection(pool, async (client) => {
    const { rows } = await client.query<{ held: boolean }>(
      'SELECT pg_try_advisory_lock(hashtextextended($1, 1)) AS held',
      [name],
    );
    if (!rows[0]?.held) return undefined;
    const unlock = () => client.query('SELECT pg_advisory_unlock(hashtextextended($1, 1))', [name]);
    try {
      return await work(client);
    } finally {
      // Unlocking fails only if the connection is broken, and then the lock is released anyway.
      await unlock().catch(() => {});
    }
  });
}

/** Runs the work on a connection of the pool. A connection that broke meanwhile, even between queries, is discarded. */
async function withConnection<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const note = (error: Error) => {
    broken = error;
  };
  client.on('error', note);
  try {
    return await work(client);
  } catch (error) {
    broken ??= error as Error;
    throw error;
  } finally {
    client.release(broken);
    // A broken connection may emit more errors, so its listener stays: without one they would end the process.
    if (!broken) client.off('error', note);
  }
}
