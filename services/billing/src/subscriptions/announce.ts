import { subscriptionUpdated } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import type { BillingDatabase, WriteFor } from '../store.ts';
import { findPlanOf, findSubscribers } from './subscription.store.ts';

const accountsPerPage = 500;

/**
 * Publishes the subscription of each account once more, for a service that has begun to act on subscriptions after they were
 * published. Who knows a subscription already does nothing. Returns the number of accounts; a `dryRun` only counts them.
 */
export async function announceSubscriptions(
  { database, writeFor }: { readonly database: BillingDatabase; readonly writeFor: WriteFor },
  { dryRun }: { readonly dryRun: boolean },
): Promise<number> {
  let announced = 0;
  for (let after = '', more = true; more; ) {
    const accounts = await findSubscribers(database.sql, after, accountsPerPage);
    for (const accountId of accounts) if (dryRun || (await announce(writeFor, accountId))) announced++;
    after = accounts.at(-1) ?? after;
    more = accounts.length === accountsPerPage;
  }
  return announced;
}

/** Under the lock of the customer, so that no change of the subscription is published before this older state of it. */
const announce = (writeFor: WriteFor, accountId: string): Promise<boolean> =>
  writeFor(accountId, async ({ tx, context, publish }) => {
    const subscription = await findPlanOf(tx, accountId);
    if (!subscription) return false; // It has ended meanwhile.
    const { provider_subscription_id: subscription_id, plan_key, status } = subscription;
    publish(newEvent(subscriptionUpdated, { account_id: accountId, subscription_id, plan_key, status }, context));
    return true;
  });
