import type { Clock } from '@attribution/runtime';
import { type Purge, purgeOf } from '@attribution/service';
import type { UtilitiesDatabase } from '../store.ts';
import { deleteSlots } from './upstream.store.ts';

export { type AskOptions, ask } from './ask.ts';
export { type Answered, createUpstream, type UpstreamDependencies } from './upstream.ts';
export { UpstreamFailed } from './upstream-failed.ts';

const day = 24 * 60 * 60 * 1000;
/** Longer no answer is given, even as a stale one. */
export const longestKeptMs = 365 * day;

interface HousekeepingDependencies {
  readonly database: UtilitiesDatabase;
  readonly clock: Clock;
}

export const housekeeping = ({ database, clock }: HousekeepingDependencies): Record<string, Purge> => ({
  'purge-upstream-answers': purgeOf(database.pool, [
    {
      table: 'upstream_answers',
      condition: 'retrieved_at < $1',
      before: () => new Date(clock.now().getTime() - longestKeptMs),
    },
  ]),
});

/** Fewer answers may be kept than before the process was started. */
export const trimAnswers = (database: UtilitiesDatabase, kept: number) => ({
  name: 'trim-upstream-answers',
  every: day,
  run: () => deleteSlots(database.sql, kept),
});
