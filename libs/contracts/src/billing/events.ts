import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { id } from '../wire/ids.ts';
import { RefundDestination } from './resources.ts';

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
  /** Events of earlier releases do not have it. */
  destination: RefundDestination.default('payment_method'),
});
const dispute = z.object({
  ...bought,
  /** Its id at the payment provider. */
  dispute_id: z.string(),
  /** What the disputed money bought. */
  token_amount: z.int(),
});
const subscription = z.object({
  ...inAccount,
  /** Its id at the payment provider. */
  subscription_id: z.string(),
  plan_key: z.string(),
  status: z.string(),
});

/** A token pack was paid. Its tokens are granted once for each `payment_id`. */
export const paymentSucceeded = event({ type: 'payment.succeeded', ...byAccount, data: payment });
/** Published once for a payment, however often the payer tries. */
export const paymentFailed = event({
  type: 'payment.failed',
  ...byAccount,
  data: payment.extend({ reason: z.string().nullable().meta({ description: 'For people' }) }),
});
/**
 * The payment of a renewal or of a change of plan waits for the holder of the card. Published once for a payment; what comes
 * of it is `invoice.paid` or `payment.failed`.
 */
export const paymentWaits = event({
  type: 'payment.waits',
  ...byAccount,
  data: payment.extend({
    page_url: z.string().nullable().meta({ description: 'Where it is confirmed' }),
    expires_at: z.iso.datetime().nullable().meta({ description: 'null: until the subscription ends' }),
  }),
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
/** The payer's bank asks for the money back. The tokens of the payment that are unspent are held. */
export const disputeOpened = event({
  type: 'dispute.opened',
  ...byAccount,
  data: dispute.extend({ reason: z.string().meta({ description: 'Of the card network, such as fraudulent' }) }),
});
/** The money stays, so the tokens are released. */
export const disputeWon = event({ type: 'dispute.won', ...byAccount, data: dispute });
/** The money is gone, so the tokens are taken back; those that are spent are owed. */
export const disputeLost = event({ type: 'dispute.lost', ...byAccount, data: dispute });
