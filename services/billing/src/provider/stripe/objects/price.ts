import type Stripe from 'stripe';
import type { CatalogueEntry } from '../../payment-provider.ts';

/** A price that was replaced has lost its lookup key to the new price, but keeps its metadata. */
export function planKeyOf(price: Stripe.Price): string {
  return price.metadata.plan_key || price.lookup_key || '';
}

/** Whether the price matches the catalogue entry. */
export function charges(price: Stripe.Price, entry: CatalogueEntry): boolean {
  return (
    price.unit_amount === entry.amount_cents &&
    price.currency === entry.currency.toLowerCase() &&
    (price.recurring?.interval ?? null) === entry.interval &&
    (price.recurring?.interval_count ?? 1) === 1
  );
}
