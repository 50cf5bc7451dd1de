import type Stripe from 'stripe';
import type { NewRefund, ProviderRefund } from '../payment-provider.ts';
import { pathId } from './ids.ts';
import { refundOf } from './objects/refund.ts';

export async function createRefund(stripe: Stripe, refund: NewRefund, key: string): Promise<ProviderRefund> {
  const { paymentId, amountCents, reason, reference } = refund;
  const params = { payment_intent: paymentId, amount: amountCents, reason, metadata: { reference } };
  return refundOf(await stripe.refunds.create(params, { idempotencyKey: key }));
}

export async function getRefund(stripe: Stripe, id: string): Promise<ProviderRefund> {
  return refundOf(await stripe.refunds.retrieve(pathId(id)));
}
