import { Problem } from '@attribution/contracts';
import type { BillingDatabase } from '../store.ts';
import { findPrices, type PlanPriceRow } from './price.store.ts';

/** The price of a plan that is for sale. Throws `not-found` otherwise. */
export async function activePrice({ sql }: BillingDatabase, planKey: string): Promise<PlanPriceRow> {
  const price = (await findPrices(sql, [planKey])).get(planKey);
  if (price?.active) return price;
  throw new Problem('not-found', `body.plan_key: there is no plan or token pack ${JSON.stringify(planKey)}.`);
}
