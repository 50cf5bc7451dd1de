import type { Clock } from '@attribution/runtime';
import { purgeOf } from '@attribution/service';
import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { findReadUntil, handledEvents, insertEvent, setReadUntil } from './provider-event.store.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
/** The provider's list may be behind its notifications, and its clock another. */
const overlap = 10 * minute;
/** As long as Stripe lists its own. */
const listed = 30 * day;
const kept = 90 * day;

export interface ReconcileParts {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly clock: Clock;
  readonly wake: () => void;
}

/** Reads the provider's list of notifications for those that never came. */
export async function reconcile({ database: { sql }, provider, clock, wake }: ReconcileParts): Promise<void> {
  const now = clock.now();
  const until = (await findReadUntil(sql)) ?? new Date(now.getTime() - listed + overlap);
  let found = false;
  for await (const event of provider.listEvents(new Date(until.getTime() - overlap)))
    found = (await insertEvent(sql, event, clock.now())) || found;
  await setReadUntil(sql, now);
  if (found) wake();
}

/** What this service forgets, by the name of the job that does it in its turn: notifications that nobody sends again. */
export const housekeeping = ({ database: { pool }, clock }: Pick<ReconcileParts, 'database' | 'clock'>) => ({
  'purge-provider-events': purgeOf(pool, [{ ...handledEvents, before: () => new Date(clock.now().getTime() - kept) }]),
});
