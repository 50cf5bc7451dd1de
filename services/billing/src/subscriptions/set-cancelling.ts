import { Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { type PaymentProvider, ProviderError, providerProblem, thingProblem } from '../provider/index.ts';
import type { BillingDatabase, Refresh, WriteFor } from '../store.ts';
import { findSubscription, type SubscriptionRow } from './subscription.store.ts';
import { isLive } from './subscription.ts';

export interface SubscriptionDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly refresh: Refresh;
  readonly writeFor: WriteFor;
  readonly clock: Clock;
}

/**
 * Sets whether a subscription ends with its period, and returns the new state. A subscription that has ended meanwhile
 * stays ended.
 */
export async function setCancelling(
  { database, provider, refresh }: Pick<SubscriptionDependencies, 'database' | 'provider' | 'refresh'>,
  { provider_subscription_id: id }: SubscriptionRow,
  cancel: boolean,
  key: string,
): Promise<SubscriptionRow> {
  try {
    await provider.setCancelAtPeriodEnd(id, cancel, key);
  } catch (error) {
    if (!(error instanceof ProviderError && error.kind === 'refused')) throw thingProblem(error);
  }
  const now = await refreshed({ database, refresh }, id);
  if (isLive(now) && now.cancel_at_period_end !== cancel)
    throw new Problem('upstream-error', 'The payment provider does not change this subscription for now.');
  return now;
}

/** The current state of the subscription at the provider. */
export async function refreshed(
  { database, refresh }: Pick<SubscriptionDependencies, 'database' | 'refresh'>,
  id: string,
): Promise<SubscriptionRow> {
  await refresh('subscription', id).catch((error: unknown) => {
    throw providerProblem(error);
  });
  const row = await findSubscription(database.sql, id);
  if (!row) throw new Error(`No subscription ${id}`);
  return row;
}
