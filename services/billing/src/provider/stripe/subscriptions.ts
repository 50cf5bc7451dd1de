import type Stripe from 'stripe';
import { type PlanChange, ProviderError, type ProviderSubscription } from '../payment-provider.ts';
import { idOf, pathId } from './ids.ts';
import { getInvoice } from './invoices.ts';
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
 * Writes nothing when the plan is already in force. Stripe keeps an upgrade that cannot be paid at once as a pending
 * update for 23 hours; if its invoice is paid in that time, a notification announces the new plan. If its payment does not
 * wait for the holder of the card, it is `declined`.
 */
export async function changePlan(stripe: Stripe, change: PlanChange, key: string): Promise<ProviderSubscription> {
  const id = pathId(change.subscriptionId);
  const subscription = await stripe.subscriptions.retrieve(id, { expand });
  const before = subscriptionOf(subscription);
  if (before.plan_key === change.price.plan_key) return before;
  const waits = before.pending_plan_key === change.price.plan_key && (await needsHolder(stripe, subscription));
  if (waits) return before;
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
  if (change.type === 'upgrade' && changed.pending_update && !(await needsHolder(stripe, changed))) {
    throw new ProviderError('declined', 'The payment was not made: the plan stays as it was.');
  }
  return subscriptionOf(changed);
}

/** Whether the payment of the latest invoice waits for the holder of the card. */
async function needsHolder(stripe: Stripe, { latest_invoice }: Stripe.Subscription): Promise<boolean> {
  const invoice = idOf(latest_invoice);
  if (invoice === null) return false;
  const { payment_id } = await getInvoice(stripe, invoice);
  return payment_id !== null && (await stripe.paymentIntents.retrieve(payment_id)).status === 'requires_action';
}
