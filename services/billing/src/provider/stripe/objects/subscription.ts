import type Stripe from 'stripe';
import type { ProviderSubscription } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { planKeyOf } from './price.ts';
import { customerNotes, dateOf, noteOf, oneOf } from './values.ts';

const STATUSES = ['incomplete', 'incomplete_expired', 'trialing', 'active', 'past_due', 'unpaid', 'canceled'] as const;

/**
 * Its customer may be expanded. The plan is its price's: metadata are not changed along with it, and an upgrade that
 * waits for its payment leaves the price as it was.
 */
export function subscriptionOf(subscription: Stripe.Subscription): ProviderSubscription {
  const item = subscription.items.data[0];
  return {
    id: subscription.id,
    customer_id: idOf(subscription.customer) ?? '',
    // `paused`, as any that is not known, gives nobody anything.
    status: oneOf(subscription.status, STATUSES, 'unpaid'),
    plan_key: (item && planKeyOf(item.price)) || noteOf('plan_key', subscription.metadata),
    cancel_at_period_end: endsWithPeriod(subscription, item),
    current_period_end: item ? dateOf(item.current_period_end) : null,
    account_id: noteOf('account_id', subscription.metadata, customerNotes(subscription.customer)),
    created_at: dateOf(subscription.created),
  };
}

/** Stripe's own pages may name the moment instead. */
function endsWithPeriod(
  { cancel_at_period_end, cancel_at }: Stripe.Subscription,
  item: Stripe.SubscriptionItem | undefined,
): boolean {
  return cancel_at_period_end || (cancel_at !== null && item !== undefined && cancel_at <= item.current_period_end);
}
