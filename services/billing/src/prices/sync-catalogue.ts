import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { findPlanPrices } from './price.store.ts';

/** Makes the prices that are sold at the provider; answers its ids by plan key. Done again it changes nothing. */
export async function syncCatalogue(parts: {
  database: BillingDatabase;
  provider: PaymentProvider;
}): Promise<ReadonlyMap<string, string>> {
  return parts.provider.syncPrices(await findPlanPrices(parts.database));
}
