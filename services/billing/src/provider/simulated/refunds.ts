import { type NewRefund, ProviderError } from '../payment-provider.ts';
import { disputeOn } from './disputes.ts';
import { chargeOf } from './events.ts';
import type { Refund } from './objects.ts';
import type { Simulation } from './simulation.ts';

/** Refunds at most what remains of a payment. */
export function createRefund(simulation: Simulation, requested: NewRefund): Refund {
  const { store } = simulation;
  const payment = store.get('payment_intent', requested.paymentId);
  const dispute = disputeOn(simulation, payment.id);
  if (dispute && dispute.status !== 'won')
    throw new ProviderError('refused', 'A payment that is disputed cannot be refunded.');
  const refundable = payment.status === 'succeeded' ? payment.amount - payment.amount_refunded : 0;
  if (!Number.isSafeInteger(requested.amountCents) || requested.amountCents <= 0 || requested.amountCents > refundable)
    throw new ProviderError('refused', `Of this payment ${refundable} cents can be given back.`);
  const refunded = store.put({ ...payment, amount_refunded: payment.amount_refunded + requested.amountCents });
  const refund = store.put<Refund>({
    ...simulation.begin('refund'),
    payment_intent: payment.id,
    amount: requested.amountCents,
    currency: payment.currency,
    reason: requested.reason,
    status: 'succeeded',
    metadata: { reference: requested.reference },
  });
  simulation.emit('charge.refunded', chargeOf(refunded));
  simulation.emit('refund.updated', refund);
  return refund;
}

/** If there are several, the newest. */
export function findRefund({ store }: Simulation, paymentId: string, reference: string): Refund | undefined {
  const refunds = store.ownedBy('refund', store.get('payment_intent', paymentId).id);
  return refunds.findLast(({ metadata }) => metadata.reference === reference);
}
