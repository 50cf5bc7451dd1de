import type { Clock } from '@attribution/runtime';
import type { Job } from '@attribution/service';
import type { EventsDatabase } from '../store.ts';
import { boundsOf, monthOf, monthsAround } from './months.ts';
import { addMonth, deleteStray, dropMonth, findMonths, rawTables } from './partition.store.ts';

/** An item may be 90 days late, and most clocks are about right. */
const monthsBefore = 4;
/** So many months the job may fail for. */
const monthsAhead = 3;

const dayMs = 86_400_000;

/** The partitions that there should be at an instant, and since when items are kept: whole months, by their receipt. */
export function partitionsAt(now: number, retentionDays: number) {
  const { from: keptSince } = boundsOf(monthOf(now - retentionDays * dayMs));
  const months = monthsAround(now, monthsBefore, monthsAhead).filter((month) => boundsOf(month).from >= keptSince);
  return { keptSince, months };
}

/** The job that makes the partitions of raw items before they are needed, and drops those that are too old. */
export const partitionsJob = ({
  database: { pool },
  clock,
  retentionDays,
}: {
  readonly database: Pick<EventsDatabase, 'pool'>;
  readonly clock: Clock;
  readonly retentionDays: number;
}): Job => ({
  name: 'partitions',
  every: 3_600_000,
  async run(stopping) {
    const { keptSince, months } = partitionsAt(clock.now().getTime(), retentionDays);
    for (const table of rawTables) {
      const present = await findMonths(pool, table);
      for (const month of months) if (!present.includes(month)) await addMonth(pool, table, month);
      for (const month of present)
        if (boundsOf(month).to <= keptSince) await dropMonth(pool, table, month, new Date(keptSince));
      await deleteStray(pool, table, new Date(keptSince), stopping);
    }
  },
});
