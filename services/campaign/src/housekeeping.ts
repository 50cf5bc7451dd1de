import type { Clock } from '@attribution/runtime';
import { type Purge, purgeOf } from '@attribution/service';
import type { CampaignDatabase } from './store.ts';

/** How long a job is kept after its end. */
const jobsKeptMs = 30 * 24 * 60 * 60_000;

export const housekeeping = ({ database, clock }: { database: CampaignDatabase; clock: Clock }) =>
  ({
    'purge-jobs': purgeOf(database.pool, [
      { table: 'jobs', condition: 'finished_at <= $1', before: () => new Date(clock.now().getTime() - jobsKeptMs) },
    ]),
  }) satisfies Record<string, Purge>;
