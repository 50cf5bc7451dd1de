import type Stripe from 'stripe';
import type { ProviderSubscription } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { planKeyOf } from './price.ts';
import { customerNotes, dateOf, noteOf, oneOf } from './values.ts';

const STATUSES = ['incomplete', 'incomplete_expired', 'trialing', 'active', 'past_due', 'unpaid', 'canceled'] as const;

/**
 * The customer may be expanded. The plan is that of the price, because a change of plan does not update the metadata,
 * and an upgrade that waits for its payment leaves the price unchanged.
 */
export function subscriptionOf(subscription: Stripe.Subscription): ProviderSubscription {
  const item = subscription.items.data[0];
  const pending = subscription.pending_update?.subscription_items?.[0];
  return {
    id: subscription.id,
    customer_id: idOf(subscription.customer) ?? '',
    // `paused`, and any unknown status, counts as unpaid, which gives no access.
    status: oneOf(subscription.status, STATUSES, 'unpaid'),
    plan_key: (item && planKeyOf(item.price)) || noteOf('plan_key', subscription.metadata),
    cancel_at_period_end: endsWithPeriod(subscription, item),
    current_period_end: item ? dateOf(item.current_period_end) : null,
    pending_plan_key: pending ? planKeyOf(pending.price) : null,
    account_id: noteOf('account_id', subscription.metadata, customerNotes(subscription.customer)),
    created_at: dateOf(subscription.created),
  };
}

/** Stripe's own pages may set `cancel_at` instead. */
function endsWithPeriod(
  { cancel_at_period_end, cancel_at }: Stripe.Subscription,
  item: Stripe.SubscriptionItem | undefined,
): boolean {
  return cancel_at_period_end || (cancel_at !== null && item !== undefined && cancel_at <= item.current_period_end);
}
