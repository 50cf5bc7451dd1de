import type { Pool } from 'pg';

/** Changes rows of a table without running its triggers, like a manual change or a bug. */
export async function tamper(pool: Pool, table: string, sql: string, values: readonly unknown[] = []): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    await client.query(sql, [...values]);
  } finally {
    await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
    client.release();
  }
}
