import type { PaymentProvider } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';
import { findPlanPrices } from './price.store.ts';

/** Creates the prices for sale at the provider, and returns their ids by plan key. Running it again changes nothing. */
export async function syncCatalogue(deps: {
  database: BillingDatabase;
  provider: PaymentProvider;
}): Promise<ReadonlyMap<string, string>> {
  return deps.provider.syncPrices(await findPlanPrices(deps.database));
}
