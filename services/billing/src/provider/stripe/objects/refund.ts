import type Stripe from 'stripe';
import type { ProviderRefund } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { noteOf, oneOf } from './values.ts';

export function refundOf(refund: Stripe.Refund): ProviderRefund {
  return {
    id: refund.id,
    payment_id: idOf(refund.payment_intent) ?? '',
    amount_cents: refund.amount,
    status: oneOf(refund.status, ['pending', 'succeeded', 'failed', 'canceled'], 'pending'),
    // Stripe may have had a reason of its own.
    reason: oneOf(refund.reason, ['duplicate', 'fraudulent', 'requested_by_customer'], 'requested_by_customer'),
    reference: noteOf('reference', refund.metadata) || null,
  };
}
