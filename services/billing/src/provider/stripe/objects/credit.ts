import type Stripe from 'stripe';
import type { ProviderCredit } from '../../payment-provider.ts';
import { noteOf } from './values.ts';

export const creditOf = ({ id, amount, metadata }: Stripe.CustomerBalanceTransaction): ProviderCredit => {
  return { id, amount_cents: -amount, reference: noteOf('reference', metadata) };
};
