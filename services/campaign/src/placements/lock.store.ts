import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

/**
 * Until the commit. What a request places shares the lock with other requests of the account; following the estate has it
 * alone, so that it sees all that was placed before a change, and what is placed later sees the change. Taken before the
 * rows of campaigns.
 */
export async function lockPlacing(tx: Sql, accountId: string, mode: 'shared' | 'alone'): Promise<void> {
  const key = sql`hashtextextended(${accountId}, 7)`;
  const lock = mode === 'alone' ? sql`pg_advisory_xact_lock(${key})` : sql`pg_advisory_xact_lock_shared(${key})`;
  await sql`SELECT ${lock}`.execute(db(tx));
}
