import type { Pool, PoolClient } from 'pg';

/**
 * Runs the work while holding a lock that is one in the whole database, on the connection that holds it. Undefined,
 * at once, when another holds it. A process that dies gives it back with its connection.
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
      // It fails only with the connection, and then the lock is gone with that.
      await unlock().catch(() => {});
    }
  });
}

/** Lends a connection of the pool. One that broke in the meantime, even between queries, is thrown away. */
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
    // A broken one may still tell more of its end, which nobody else listens to.
    if (!broken) client.off('error', note);
  }
}
