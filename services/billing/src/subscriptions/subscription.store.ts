import type { Sql } from '@attribution/database';
import type { PlanChangeType } from '../generated/prisma/enums.ts';
import type { ProviderSubscription } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';

export interface SubscriptionRow {
  readonly provider_subscription_id: string;
  readonly account_id: string;
  readonly plan_key: string;
  readonly status: ProviderSubscription['status'];
  readonly cancel_at_period_end: boolean;
  readonly current_period_end: Date | null;
  readonly created_at: Date;
}

/** The account's latest. */
export async function findLatestSubscription(
  { sql }: Pick<BillingDatabase, 'sql'>,
  accountId: string,
): Promise<SubscriptionRow | undefined> {
  const [row] = await sql.$queryRaw<SubscriptionRow[]>`
    SELECT * FROM subscriptions WHERE account_id = ${accountId} ORDER BY created_at DESC, provider_subscription_id DESC LIMIT 1`;
  return row;
}

export async function findSubscription(tx: Sql, id: string): Promise<SubscriptionRow | undefined> {
  const [row] = await tx.$queryRaw<SubscriptionRow[]>`
    SELECT * FROM subscriptions WHERE provider_subscription_id = ${id}`;
  return row;
}

export async function putSubscription(tx: Sql, accountId: string, told: ProviderSubscription): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO subscriptions (provider_subscription_id, account_id, plan_key, status, cancel_at_period_end, current_period_end,
      created_at)
    VALUES (${told.id}, ${accountId}, ${told.plan_key}, ${told.status}, ${told.cancel_at_period_end},
      ${told.current_period_end}, ${told.created_at})
    ON CONFLICT (provider_subscription_id) DO UPDATE SET plan_key = excluded.plan_key, status = excluded.status,
      cancel_at_period_end = excluded.cancel_at_period_end, current_period_end = excluded.current_period_end`;
}

export interface PlanChangeRow {
  readonly id: string;
  readonly account_id: string;
  readonly provider_subscription_id: string;
  readonly from_plan_key: string;
  readonly to_plan_key: string;
  readonly change_type: PlanChangeType;
  readonly created_at: Date;
}

export async function findPlanChange({ sql }: BillingDatabase, id: string): Promise<PlanChangeRow | undefined> {
  return (await sql.$queryRaw<PlanChangeRow[]>`SELECT * FROM plan_changes WHERE id = ${id}`)[0];
}

/**
 * Writes a change down. One to the same plan that the provider has not answered for is taken up instead; undefined: it is
 * to another plan. The customer is locked.
 */
export async function beginPlanChange(
  tx: Sql,
  row: PlanChangeRow,
  patience: number,
): Promise<PlanChangeRow | undefined> {
  const since = new Date(row.created_at.getTime() - patience);
  const [open] = await tx.$queryRaw<PlanChangeRow[]>`
    SELECT * FROM plan_changes WHERE account_id = ${row.account_id} AND done_at IS NULL AND created_at > ${since}
    ORDER BY created_at DESC LIMIT 1`;
  if (open) return open.to_plan_key === row.to_plan_key ? open : undefined;
  await tx.$executeRaw`
    INSERT INTO plan_changes (id, account_id, provider_subscription_id, from_plan_key, to_plan_key, change_type, created_at)
    VALUES (${row.id}, ${row.account_id}, ${row.provider_subscription_id}, ${row.from_plan_key}, ${row.to_plan_key},
      ${row.change_type}::"PlanChangeType", ${row.created_at})
    ON CONFLICT DO NOTHING`;
  return (await tx.$queryRaw<PlanChangeRow[]>`SELECT * FROM plan_changes WHERE id = ${row.id}`)[0];
}

export async function finishPlanChange({ sql }: BillingDatabase, id: string, now: Date): Promise<void> {
  await sql.$executeRaw`UPDATE plan_changes SET done_at = ${now} WHERE id = ${id} AND done_at IS NULL`;
}
