import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { importPurge } from './imports/index.ts';
import { estatePurge, purgeJob } from './purge/index.ts';
import type { OrganizationDatabase } from './store.ts';

interface HousekeepingDependencies {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** The purges of this service, by the names of their jobs. */
export const housekeeping = (deps: HousekeepingDependencies) => ({
  'purge-estate-imports': importPurge(deps),
  [purgeJob]: estatePurge(deps),
});
