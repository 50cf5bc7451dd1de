import { eventually, type TestService } from '@attribution/testing';
import { rows } from './support.ts';

/** Waits until that many statements of the service stand before a lock. */
export const standing = (service: TestService, number: number) =>
  eventually(async () => {
    const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    if ((await rows(service, waiting)).length < number) throw new Error(`Fewer than ${number} statements wait`);
  });

/** Runs the work while a statement's locks are held from outside. */
export async function holding(
  service: TestService,
  { sql, id }: { sql: string; id: string },
  work: () => Promise<void>,
): Promise<void> {
  const outside = await service.db.connect();
  try {
    await outside.query('BEGIN');
    await outside.query(sql, [id]);
    await work();
  } finally {
    await outside.query('COMMIT');
    outside.release();
  }
}

/** A lock that transactions with an event of the account wait for, late in the transaction. */
export const eventsLock = (accountId: string) => ({
  sql: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
  id: `account.events ${accountId}`,
});

/** Holds the lock that a job runs under. */
export async function keepJobAway(service: TestService, job: string) {
  const outside = await service.db.connect();
  const send = (sql: string) => outside.query(`SELECT ${sql}(hashtextextended($1, 1))`, [`job ${job}`]);
  await send('pg_advisory_lock');
  return { letCome: () => send('pg_advisory_unlock'), end: () => outside.release(true) };
}
