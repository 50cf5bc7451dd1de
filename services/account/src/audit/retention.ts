import { setting } from '@attribution/runtime';
import type { Purge } from '@attribution/service';
import { z } from 'zod';
import type { AccountDatabase } from '../store.ts';

/** By itself, because an operator's command reads it without the secrets of the service. */
export const auditRetention = z.object({
  AUDIT_LOG_DAYS: setting.count.pipe(z.int().min(366, 'must be 366 or more').max(36_500)).default(730).meta({
    description: 'Days that audit records are kept, more than a year; the database deletes none that is younger',
  }),
});

const batchSize = 10_000;

/**
 * Deletes audit records from before a time. The role of the processes may not, so a function of the database does, which
 * refuses to delete records younger than a year (ADR 35).
 */
export function oldRecords({ pool }: Pick<AccountDatabase, 'pool'>, before: () => Date): Purge {
  return {
    async count() {
      const { rows } = await pool.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM audit_log WHERE id < first_uuid_at($1) AND occurred_at < $1',
        [before()],
      );
      return { audit_log: rows[0]?.count ?? 0 };
    },
    async purge() {
      const time = before();
      for (let deleted = 0; ; ) {
        const { rows } = await pool.query<{ count: number }>('SELECT purge_audit_log($1, $2) AS count', [
          time,
          batchSize,
        ]);
        const count = rows[0]?.count ?? 0;
        deleted += count;
        if (count < batchSize) return { audit_log: deleted };
      }
    },
  };
}
