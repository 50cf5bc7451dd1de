import type { Clock } from '@attribution/runtime';
import { purgeOf } from '@attribution/service';
import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { findReadUntil, handledEvents, insertEvent, setReadUntil } from './provider-event.store.ts';

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

/** Reads the provider's list of notifications, to find those that were never delivered. */
export async function reconcile({ database: { sql }, provider, clock, wake }: ReconcileDependencies): Promise<void> {
  const now = clock.now();
  const until = (await findReadUntil(sql)) ?? new Date(now.getTime() - listed + overlap);
  let found = false;
  for await (const event of provider.listEvents(new Date(until.getTime() - overlap)))
    found = (await insertEvent(sql, event, clock.now())) || found;
  await setReadUntil(sql, now);
  if (found) wake();
}

/**
 * The purges of this service, by job name. Notifications are deleted when the provider can no longer send them again.
 */
export const housekeeping = ({ database: { pool }, clock }: Pick<ReconcileDependencies, 'database' | 'clock'>) => ({
  'purge-provider-events': purgeOf(pool, [{ ...handledEvents, before: () => new Date(clock.now().getTime() - kept) }]),
});
