import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import { type CatalogueEntry, ProviderError } from '../payment-provider.ts';
import { idOf } from './ids.ts';
import { charges } from './objects/price.ts';

/** The maximum number of lookup keys per request to Stripe. */
const BATCH_SIZE = 10;

/**
 * Returns Stripe's price ids by plan key. A price is immutable: a new amount makes a new price under the same lookup
 * key.
 */
export async function syncPrices(stripe: Stripe, entries: readonly CatalogueEntry[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (let start = 0; start < entries.length; start += BATCH_SIZE) {
    const some = entries.slice(start, start + BATCH_SIZE);
    const found = await findPrices(stripe, some);
    for (const entry of some) ids.set(entry.plan_key, await syncPrice(stripe, entry, found.get(entry.plan_key)));
  }
  return ids;
}

/** Looks up the price on every use, and creates it if it does not exist. Nothing is cached, so nothing can be stale. */
export async function priceIdOf(stripe: Stripe, entry: CatalogueEntry): Promise<string> {
  const id = (await syncPrices(stripe, [entry])).get(entry.plan_key);
  if (id === undefined) throw new ProviderError('not_found', `Stripe: no price for ${entry.plan_key}`);
  return id;
}

async function findPrices(
  stripe: Stripe,
  entries: readonly CatalogueEntry[],
): Promise<Map<string | null, Stripe.Price>> {
  const prices = await stripe.prices.list({
    lookup_keys: entries.map(({ plan_key }) => plan_key),
    active: true,
    limit: 100,
    expand: ['data.product'],
  });
  return new Map(prices.data.map((price) => [price.lookup_key, price]));
}

async function syncPrice(stripe: Stripe, entry: CatalogueEntry, found: Stripe.Price | undefined): Promise<string> {
  const product = found?.product;
  if (typeof product === 'object' && !product.deleted && product.name !== entry.name) {
    await stripe.products.update(product.id, { name: entry.name });
  }
  if (found !== undefined && charges(found, entry)) return found.id;
  const metadata = { plan_key: entry.plan_key };
  const productId = idOf(product);
  const params: Stripe.PriceCreateParams = {
    currency: entry.currency.toLowerCase(),
    unit_amount: entry.amount_cents,
    lookup_key: entry.plan_key,
    transfer_lookup_key: true,
    metadata,
    ...(entry.interval === null ? {} : { recurring: { interval: entry.interval } }),
    ...(productId === null ? { product_data: { name: entry.name, metadata } } : { product: productId }),
  };
  const price = await stripe.prices.create(params, { idempotencyKey: keyOf(params, found?.id) });
  return price.id;
}

/**
 * An idempotency key from the price and the one it replaces. Replicas that start together make one price, and an
 * amount that is restored later makes a new one.
 */
function keyOf(params: Stripe.PriceCreateParams, replaces = ''): string {
  const hash = createHash('sha256').update(JSON.stringify([params, replaces]));
  return `price-${hash.digest('hex')}`;
}
