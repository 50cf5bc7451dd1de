import { type CatalogueEntry, ProviderError } from '../payment-provider.ts';
import type { Price } from './objects.ts';
import type { Simulation } from './simulation.ts';

/**
 * The current price of a catalogue entry. A changed amount makes a new price, so existing subscriptions keep theirs.
 */
export function priceFor(simulation: Simulation, entry: CatalogueEntry): Price {
  const { store } = simulation;
  if (!Number.isSafeInteger(entry.amount_cents) || entry.amount_cents <= 0)
    throw new ProviderError('refused', 'A price is a whole number of cents above nought.');
  const [known] = store.ownedBy('price', entry.plan_key);
  const interval = known?.recurring?.interval ?? null;
  const same =
    known?.unit_amount === entry.amount_cents && known.currency === entry.currency && interval === entry.interval;
  if (known && same) return known.nickname === entry.name ? known : store.put({ ...known, nickname: entry.name });
  if (known) store.put({ ...known, lookup_key: null });
  return store.put<Price>({
    ...simulation.begin('price'),
    lookup_key: entry.plan_key,
    nickname: entry.name,
    unit_amount: entry.amount_cents,
    currency: entry.currency,
    recurring: entry.interval && { interval: entry.interval },
    metadata: { plan_key: entry.plan_key },
  });
}
