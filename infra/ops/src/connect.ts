import pg from 'pg';

/** Milliseconds: for a connection, and for one statement, which may be about a whole table. */
const limits = { connect: 5_000, statement: 60_000 };

/** Does work on a service's database, on two connections at most, and leaves. */
export async function connected<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: limits.connect,
    statement_timeout: limits.statement,
    query_timeout: limits.statement + 1_000,
    application_name: 'ops',
  });
  pool.on('error', () => {}); // A lost connection also fails the query.
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
