import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { id } from '../wire/ids.ts';

export const billingEvents = topic({ name: 'billing.events', owner: 'billing', partitions: 6 });

const byAccount = { topic: billingEvents, version: 1, key: (data: { account_id: string }) => data.account_id };
const inAccount = { account_id: id('account') };
const bought = {
  ...inAccount,
  payment_id: id('payment'),
  /** A description of the purchase, for people. */
  description: z.string(),
  amount_cents: z.int(),
  currency: z.string(),
};
const payment = z.object({
  ...bought,
  kind: z.enum(['token_pack', 'subscription']),
  plan_key: z.string(),
  token_amount: z.int(),
  receipt_url: z.string().nullable(),
});
const refund = z.object({
  ...bought,
  refund_id: id('refund'),
  token_amount: z.int(),
  /** The hold of the tokens that are taken back; null: there was no hold, because the refund was made at the provider. */
  hold_id: id('token_hold').nullable(),
});
const subscription = z.object({ ...inAccount, plan_key: z.string(), status: z.string() });

/** A token pack was paid. Its tokens are granted once for each `payment_id`. */
export const paymentSucceeded = event({ type: 'payment.succeeded', ...byAccount, data: payment });
/** Published once for a payment, however often the payer tries. */
export const paymentFailed = event({
  type: 'payment.failed',
  ...byAccount,
  data: payment.extend({ reason: z.string().nullable().meta({ description: 'For people' }) }),
});
/** A period of a subscription was paid. Its tokens are granted once for each `payment_id`. */
export const invoicePaid = event({ type: 'invoice.paid', ...byAccount, data: payment });
export const subscriptionUpdated = event({ type: 'subscription.updated', ...byAccount, data: subscription });
export const subscriptionDeleted = event({ type: 'subscription.deleted', ...byAccount, data: subscription });
export const refundSucceeded = event({ type: 'refund.succeeded', ...byAccount, data: refund });
/** `reversed`: the refund had succeeded before, but the bank returned the money. */
export const refundFailed = event({
  type: 'refund.failed',
  ...byAccount,
  data: refund.extend({ reversed: z.boolean() }),
});
