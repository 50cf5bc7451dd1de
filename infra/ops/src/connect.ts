import pg from 'pg';

const connectTimeoutMs = 5_000;
/** Long, because a statement may read a whole table. */
const statementTimeoutMs = 60_000;

/** Opens a service's database with at most two connections, does the work, and closes it. */
export async function withDatabase<T>(url: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 1_000,
    application_name: 'ops',
  });
  pool.on('error', () => {}); // A lost connection also fails the query.
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
