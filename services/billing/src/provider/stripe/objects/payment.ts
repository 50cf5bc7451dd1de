import type Stripe from 'stripe';
import type { ProviderInvoice, ProviderPayment } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { customerNotes, dateOf, noteOf } from './values.ts';

/**
 * Needs a payment with its latest charge and customer expanded. `invoice` is the one that it pays, because the
 * payments of invoices do not carry our metadata.
 */
export function paymentOf(intent: Stripe.PaymentIntent, invoice: ProviderInvoice | undefined): ProviderPayment {
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
  const status = statusOf(intent);
  return {
    id: intent.id,
    customer_id: idOf(intent.customer) ?? '',
    status,
    amount_cents: status === 'succeeded' ? intent.amount_received : intent.amount,
    refunded_cents: charge?.amount_refunded ?? 0,
    disputed: charge?.disputed ?? false,
    needs_holder: intent.status === 'requires_action',
    currency: intent.currency,
    receipt_url: charge?.receipt_url ?? null,
    failure: status === 'failed' ? (intent.last_payment_error?.message ?? 'The payment was not made.') : null,
    invoice_id: invoice?.id ?? null,
    account_id: noteOf('account_id', intent.metadata) || invoice?.account_id || accountOfCustomer(intent),
    plan_key: noteOf('plan_key', intent.metadata) || (invoice?.plan_key ?? ''),
    created_at: dateOf(intent.created),
  };
}

const accountOfCustomer = ({ customer }: Stripe.PaymentIntent) => noteOf('account_id', customerNotes(customer));

/** A declined payment waits for another card: it counts as failed now, and may still succeed. */
function statusOf({ status, last_payment_error }: Stripe.PaymentIntent): ProviderPayment['status'] {
  if (status === 'succeeded') return 'succeeded';
  if (status === 'canceled') return 'failed';
  return status === 'requires_payment_method' && last_payment_error !== null ? 'failed' : 'pending';
}
