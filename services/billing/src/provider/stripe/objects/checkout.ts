import type Stripe from 'stripe';
import type { ProviderCheckout } from '../../payment-provider.ts';
import { idOf } from '../ids.ts';
import { noteOf, oneOf } from './values.ts';

export function checkoutOf(session: Stripe.Checkout.Session): ProviderCheckout {
  const status = oneOf(session.status, ['open', 'complete', 'expired'], 'open');
  return {
    id: session.id,
    status,
    url: status === 'open' ? session.url : null,
    payment_id: session.mode === 'payment' ? idOf(session.payment_intent) : null,
    subscription_id: session.mode === 'subscription' ? idOf(session.subscription) : null,
    reference: noteOf('reference', session.metadata) || (session.client_reference_id ?? ''),
    account_id: noteOf('account_id', session.metadata),
  };
}
