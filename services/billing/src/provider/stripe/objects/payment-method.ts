import type Stripe from 'stripe';
import type { ProviderPaymentMethod } from '../../payment-provider.ts';

/** Returns undefined for anything other than a card. */
export function paymentMethodOf(
  { id, card }: Stripe.PaymentMethod,
  defaultId: string | null,
): ProviderPaymentMethod | undefined {
  if (card === undefined) return undefined;
  const { brand, last4, exp_month, exp_year } = card;
  return { id, brand, last4, exp_month, exp_year, is_default: id === defaultId };
}
