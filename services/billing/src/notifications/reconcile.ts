import type { Clock } from '@attribution/runtime';
import { purgeOf } from '@attribution/service';
import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { findReading, handledEvents, insertEvent, setReading } from './provider-event.store.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
/**
 * The list is read again from this much earlier, because it may lag behind the notifications, and the provider's clock
 * may differ from ours.
 */
const overlap = 10 * minute;
/** How long Stripe keeps events in its list. */
const listed = 30 * day;
const kept = 90 * day;

export interface ReconcileDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly clock: Clock;
  readonly wake: () => void;
}

/**
 * Reads the provider's list of notifications, to find those that were never delivered. A reading that failed goes on where it
 * failed; one that began a day ago begins again.
 */
export async function reconcile({ database: { sql }, provider, clock, wake }: ReconcileDependencies): Promise<void> {
  const now = clock.now();
  const { read_until, began_at, cursor } = (await findReading(sql)) ?? {
    read_until: null,
    began_at: null,
    cursor: null,
  };
  const until = read_until ?? new Date(now.getTime() - listed + overlap);
  const goesOn = cursor !== null && began_at !== null && now.getTime() - began_at.getTime() < day;
  const began = goesOn ? began_at : now;
  const progress = {
    from: goesOn ? cursor : null,
    passed: (reached: string) => setReading(sql, { began_at: began, cursor: reached }),
  };
  let found = false;
  try {
    for await (const event of provider.listEvents(new Date(until.getTime() - overlap), progress))
      found = (await insertEvent(sql, event, clock.now())) || found;
    await setReading(sql, { read_until: began, began_at: null, cursor: null });
  } finally {
    if (found) wake();
  }
}

/**
 * The purges of this service, by job name. Notifications are deleted when the provider can no longer send them again.
 */
export const housekeeping = ({ database: { pool }, clock }: Pick<ReconcileDependencies, 'database' | 'clock'>) => ({
  'purge-provider-events': purgeOf(pool, [{ ...handledEvents, before: () => new Date(clock.now().getTime() - kept) }]),
});
