import { subscriptionDeleted, subscriptionUpdated } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import type { ProviderSubscription } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { findSubscription, putSubscription, type SubscriptionRow } from './subscription.store.ts';
import { isLive } from './subscription.ts';

/** Stores the provider's state of a subscription, and publishes changes. */
export async function writeSubscription(
  { tx, customer: { account_id }, context, publish }: Writing,
  subscription: ProviderSubscription,
): Promise<SubscriptionRow> {
  const before = await findSubscription(tx, subscription.id);
  const after = { ...subscription, provider_subscription_id: subscription.id, account_id };
  if (before && isSame(before, subscription)) return before;
  await putSubscription(tx, account_id, subscription);
  const type = isLive(subscription) ? subscriptionUpdated : subscriptionDeleted;
  const { id: subscription_id, plan_key, status } = subscription;
  publish(newEvent(type, { account_id, subscription_id, plan_key, status }, context));
  return after;
}

const isSame = (before: SubscriptionRow, subscription: ProviderSubscription) =>
  before.plan_key === subscription.plan_key &&
  before.status === subscription.status &&
  before.cancel_at_period_end === subscription.cancel_at_period_end &&
  before.current_period_end?.getTime() === subscription.current_period_end?.getTime();
