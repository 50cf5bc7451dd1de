import { anyOf, type Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { PlanPrice, UsagePrice } from '../generated/kysely/types.ts';
import { type BillingDatabase, db } from '../store.ts';

export type PlanPriceRow = Readonly<Omit<Selectable<PlanPrice>, 'position'>>;

/** The prices that are for sale. */
export async function findPlanPrices({ sql }: BillingDatabase): Promise<Selectable<PlanPrice>[]> {
  return db(sql).selectFrom('plan_prices').selectAll().where('active', '=', true).orderBy('position').execute();
}

const usagePricesOf = (tx: Sql) => db(tx).selectFrom('usage_prices').selectAll().where('active', '=', true);

export async function findUsagePrices({ sql }: BillingDatabase): Promise<Selectable<UsagePrice>[]> {
  return usagePricesOf(sql).orderBy('position').execute();
}

export async function findUsagePrice(
  { sql }: BillingDatabase,
  action: string,
): Promise<Selectable<UsagePrice> | undefined> {
  return usagePricesOf(sql).where('action', '=', action).executeTakeFirst();
}

/** Prices by plan key, including those no longer for sale, because existing subscriptions keep them. */
export async function findPrices(tx: Sql, planKeys: readonly string[]): Promise<Map<string, PlanPriceRow>> {
  const prices = db(tx).selectFrom('plan_prices').selectAll().where('plan_key', '=', anyOf(planKeys));
  return new Map((await prices.execute()).map((row) => [row.plan_key, row]));
}
