import { listUsagePrices } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findUsagePrices } from './price.store.ts';

export const listUsagePricesEndpoint = (database: BillingDatabase) =>
  implement(listUsagePrices, async () => {
    const prices = await findUsagePrices(database);
    return prices.map(({ position: _, active: __, ...price }) => price);
  });
