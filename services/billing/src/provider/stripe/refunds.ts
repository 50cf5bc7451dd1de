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

/** If there are several, the newest, which Stripe lists first. */
export async function findRefund(
  stripe: Stripe,
  paymentId: string,
  reference: string,
): Promise<ProviderRefund | undefined> {
  for await (const listed of stripe.refunds.list({ payment_intent: pathId(paymentId), limit: 100 })) {
    const refund = refundOf(listed);
    if (refund.reference === reference) return refund;
  }
  return undefined;
}
