import type { BillingDatabase } from '../store.ts';

export async function findPlanPrices({ prisma }: BillingDatabase) {
  return prisma.planPrice.findMany({ where: { active: true }, orderBy: { position: 'asc' } });
}

export async function findUsagePrices({ prisma }: BillingDatabase) {
  return prisma.usagePrice.findMany({ where: { active: true }, orderBy: { position: 'asc' } });
}
