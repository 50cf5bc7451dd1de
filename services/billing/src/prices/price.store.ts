import type { Sql } from '@attribution/database';
import type { PlanPriceKind, PriceInterval } from '../generated/prisma/enums.ts';
import type { BillingDatabase } from '../store.ts';

export interface PlanPriceRow {
  readonly plan_key: string;
  readonly name: string;
  readonly kind: PlanPriceKind;
  readonly amount_cents: number;
  readonly currency: string;
  readonly interval: PriceInterval | null;
  readonly token_amount: number;
  readonly active: boolean;
}

export async function findPlanPrices({ prisma }: BillingDatabase) {
  return prisma.planPrice.findMany({ where: { active: true }, orderBy: { position: 'asc' } });
}

export async function findUsagePrices({ prisma }: BillingDatabase) {
  return prisma.usagePrice.findMany({ where: { active: true }, orderBy: { position: 'asc' } });
}

export async function findUsagePrice({ prisma }: BillingDatabase, action: string) {
  return prisma.usagePrice.findUnique({ where: { action, active: true } });
}

/** Prices by plan key, those that are sold no more too: who has bought one keeps it. */
export async function findPrices(sql: Sql, planKeys: readonly string[]): Promise<Map<string, PlanPriceRow>> {
  const rows = await sql.$queryRaw<PlanPriceRow[]>`
    SELECT plan_key, name, kind, amount_cents, currency, interval, token_amount, active FROM plan_prices
    WHERE plan_key = ANY(${planKeys})`;
  return new Map(rows.map((row) => [row.plan_key, row]));
}
