import { getUsagePrice, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findUsagePrice } from './price.store.ts';

export const getUsagePriceEndpoint = (database: BillingDatabase) =>
  implement(getUsagePrice, async ({ params }) => {
    const price = await findUsagePrice(database, params.action);
    if (!price) throw Problem.notFound();
    const { position: _, active: __, ...shown } = price;
    return shown;
  });
