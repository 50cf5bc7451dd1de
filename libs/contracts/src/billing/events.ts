import { z } from 'zod';
import { event, type Topic } from '../event.ts';
import { id } from '../wire/ids.ts';

export const billingEvents: Topic = { name: 'billing.events', owner: 'billing', partitions: 6 };

const byAccount = { topic: billingEvents, version: 1, key: (data: { account_id: string }) => data.account_id };
const inAccount = { account_id: id('account') };
const payment = z.object({
  ...inAccount,
  payment_id: id('payment'),
  plan_key: z.string(),
  amount_cents: z.int(),
  token_amount: z.int(),
});
const subscription = z.object({ ...inAccount, plan_key: z.string(), status: z.string() });

/** Of a token pack: its tokens are granted once by `payment_id`. */
export const paymentSucceeded = event({ type: 'payment.succeeded', ...byAccount, data: payment });
export const paymentFailed = event({ type: 'payment.failed', ...byAccount, data: payment });
/** Of a subscription's period: its tokens are granted once by `payment_id`. */
export const invoicePaid = event({ type: 'invoice.paid', ...byAccount, data: payment });
export const subscriptionUpdated = event({ type: 'subscription.updated', ...byAccount, data: subscription });
export const subscriptionDeleted = event({ type: 'subscription.deleted', ...byAccount, data: subscription });
export const refundSucceeded = event({
  type: 'refund.succeeded',
  ...byAccount,
  data: z.object({
    ...inAccount,
    refund_id: id('refund'),
    payment_id: id('payment'),
    amount_cents: z.int(),
    token_amount: z.int(),
  }),
});
