import type Stripe from 'stripe';
import type { ProviderCheckout } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { noteOf, oneOf } from './values.ts';

export function checkoutOf(session: Stripe.Checkout.Session): ProviderCheckout {
  const status = statusOf(session);
  return {
    id: session.id,
    status,
    url: session.status === 'open' ? session.url : null,
    payment_id: session.mode === 'payment' ? idOf(session.payment_intent) : null,
    subscription_id: session.mode === 'subscription' ? idOf(session.subscription) : null,
    reference: noteOf('reference', session.metadata) || (session.client_reference_id ?? ''),
    account_id: noteOf('account_id', session.metadata),
  };
}

/** A debit of a bank account is paid days after its page is complete: until then the checkout is open. Expanded payments only. */
function statusOf({ status, payment_status, payment_intent }: Stripe.Checkout.Session): ProviderCheckout['status'] {
  const shown = oneOf(status, ['open', 'complete', 'expired'], 'open');
  if (shown !== 'complete' || payment_status !== 'unpaid') return shown;
  const intent = typeof payment_intent === 'object' ? payment_intent : null;
  return intent?.status === 'requires_payment_method' || intent?.status === 'canceled' ? 'expired' : 'open';
}
