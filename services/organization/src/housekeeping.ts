import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { endedImports } from './imports/index.ts';
import { purgedEstates, purgeJob } from './purge/index.ts';
import type { OrganizationDatabase } from './store.ts';

interface HousekeepingParts {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** What this service forgets, by the names of the jobs that do it in their turn. */
export const housekeeping = (parts: HousekeepingParts) => ({
  'purge-estate-imports': endedImports(parts),
  [purgeJob]: purgedEstates(parts),
});
