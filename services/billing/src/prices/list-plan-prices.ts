import { listPlanPrices } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findPlanPrices } from './price.store.ts';

export const listPlanPricesEndpoint = (database: BillingDatabase) =>
  implement(listPlanPrices, async () => {
    const prices = await findPlanPrices(database);
    return prices.map(({ position: _, active: __, ...price }) => price);
  });
