import type Stripe from 'stripe';
import type { CatalogueEntry } from '../../payment-provider.ts';

/** A price that was replaced has lost its lookup key to the new one; its metadata stay. */
export function planKeyOf(price: Stripe.Price): string {
  return price.metadata.plan_key || price.lookup_key || '';
}

/** Whether it charges what the catalogue says. */
export function charges(price: Stripe.Price, entry: CatalogueEntry): boolean {
  return (
    price.unit_amount === entry.amount_cents &&
    price.currency === entry.currency.toLowerCase() &&
    (price.recurring?.interval ?? null) === entry.interval &&
    (price.recurring?.interval_count ?? 1) === 1
  );
}
