import { createOutbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { housekeeping } from './housekeeping.ts';
import { openOrganizationDatabase } from './store.ts';

/** What is asked of this service's database beside the running service, by whoever looks after it. */
export function openOperations({ url, clock }: { url: string; clock: Clock }) {
  const database = openOrganizationDatabase(url);
  // A relay looks at the outbox by itself.
  const outbox = createOutbox(() => {});
  return {
    close: () => database.close(),

    /** By the names of the jobs that do the same in their turn. */
    purges: housekeeping({ database, outbox, clock }),
  };
}
