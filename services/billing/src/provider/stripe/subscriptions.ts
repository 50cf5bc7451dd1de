import type Stripe from 'stripe';
import { type PlanChange, ProviderError, type ProviderSubscription } from '../payment-provider.ts';
import { pathId } from './ids.ts';
import { subscriptionOf } from './objects/subscription.ts';
import { priceIdOf } from './prices.ts';

const expand = ['customer'];

export async function getSubscription(stripe: Stripe, id: string): Promise<ProviderSubscription> {
  return subscriptionOf(await stripe.subscriptions.retrieve(pathId(id), { expand }));
}

export async function setCancelAtPeriodEnd(
  stripe: Stripe,
  { id, cancel, key }: { id: string; cancel: boolean; key: string },
): Promise<ProviderSubscription> {
  const params = { cancel_at_period_end: cancel, expand };
  return subscriptionOf(await stripe.subscriptions.update(pathId(id), params, { idempotencyKey: key }));
}

/**
 * Writes nothing when the plan is already in force. An upgrade that cannot be paid at once is `declined`, and the
 * former plan stays in force. Stripe keeps it as a pending update for 23 hours; if its invoice is paid in that time, a
 * notification announces the new plan.
 */
export async function changePlan(stripe: Stripe, change: PlanChange, key: string): Promise<ProviderSubscription> {
  const id = pathId(change.subscriptionId);
  const subscription = await stripe.subscriptions.retrieve(id, { expand });
  const before = subscriptionOf(subscription);
  if (before.plan_key === change.price.plan_key) return before;
  const item = subscription.items.data[0];
  if (item === undefined || before.plan_key !== change.fromPlanKey)
    throw new ProviderError('refused', 'Stripe: the subscription is not on the plan to change from');
  const params: Stripe.SubscriptionUpdateParams = {
    items: [{ id: item.id, price: await priceIdOf(stripe, change.price), quantity: 1 }],
    ...(change.type === 'upgrade'
      ? { proration_behavior: 'always_invoice', payment_behavior: 'pending_if_incomplete' }
      : { proration_behavior: 'none' }),
    expand,
  };
  const changed = await stripe.subscriptions.update(id, params, { idempotencyKey: key });
  if (change.type === 'upgrade' && changed.pending_update) {
    throw new ProviderError('declined', 'The payment was not made: the plan stays as it was.');
  }
  return subscriptionOf(changed);
}
