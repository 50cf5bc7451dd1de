import { subscriptionDeleted, subscriptionUpdated } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import type { ProviderSubscription } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { findSubscription, putSubscription, type SubscriptionRow } from './subscription.store.ts';
import { isLive } from './subscription.ts';

/** Stores the provider's state of a subscription, and publishes changes. */
export async function writeSubscription(
  { tx, customer: { account_id }, context, tell }: Writing,
  told: ProviderSubscription,
): Promise<SubscriptionRow> {
  const before = await findSubscription(tx, told.id);
  const after = { ...told, provider_subscription_id: told.id, account_id };
  if (before && isSame(before, told)) return before;
  await putSubscription(tx, account_id, told);
  const type = isLive(told) ? subscriptionUpdated : subscriptionDeleted;
  tell(newEvent(type, { account_id, plan_key: told.plan_key, status: told.status }, context));
  return after;
}

const isSame = (before: SubscriptionRow, told: ProviderSubscription) =>
  before.plan_key === told.plan_key &&
  before.status === told.status &&
  before.cancel_at_period_end === told.cancel_at_period_end &&
  before.current_period_end?.getTime() === told.current_period_end?.getTime();
