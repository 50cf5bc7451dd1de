import type { Clock } from '@attribution/runtime';
import { purgeOf } from '@attribution/service';
import { keptSince } from './quarantine/index.ts';
import type { EventsDatabase } from './store.ts';

/** The purges of this service, by the names of their jobs. */
export function housekeeping({
  database,
  clock,
}: {
  readonly database: Pick<EventsDatabase, 'pool'>;
  readonly clock: Clock;
}) {
  const quarantined = (table: 'visits' | 'plays') => ({
    table,
    condition: 'quarantined IS NOT NULL AND received_at <= $1',
    before: () => keptSince(clock.now()),
  });
  return { 'purge-quarantine': purgeOf(database.pool, [quarantined('visits'), quarantined('plays')]) };
}
