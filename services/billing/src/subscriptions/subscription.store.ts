import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { PlanChange, Subscription } from '../generated/kysely/types.ts';
import type { ProviderSubscription } from '../provider/index.ts';
import { type BillingDatabase, db } from '../store.ts';

type Status = Pick<ProviderSubscription, 'status'>;

export type SubscriptionRow = Readonly<Omit<Selectable<Subscription>, 'status'>> & Status;

const subscriptions = (tx: Sql) => db(tx).selectFrom('subscriptions').selectAll().$narrowType<Status>();

/** The latest subscription of the account. */
export async function findLatestSubscription(
  { sql }: Pick<BillingDatabase, 'sql'>,
  accountId: string,
): Promise<SubscriptionRow | undefined> {
  return subscriptions(sql)
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('provider_subscription_id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export async function findSubscription(tx: Sql, id: string): Promise<SubscriptionRow | undefined> {
  return subscriptions(tx).where('provider_subscription_id', '=', id).executeTakeFirst();
}

/** Statuses in which an account has the plan that it has subscribed to. */
const inForce = ['active', 'trialing', 'past_due', 'unpaid'] as const;

/** The subscription by which the account has its plan; of several, the latest. */
export async function findPlanOf(tx: Sql, accountId: string): Promise<SubscriptionRow | undefined> {
  return subscriptions(tx)
    .where('account_id', '=', accountId)
    .where('status', 'in', inForce)
    .orderBy('created_at', 'desc')
    .orderBy('provider_subscription_id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The accounts that have a plan by a subscription, after one of them, in the order of their ids. */
export async function findSubscribers(sql: Sql, after: string, limit: number): Promise<string[]> {
  const rows = await db(sql)
    .selectFrom('subscriptions')
    .select('account_id')
    .distinct()
    .where('status', 'in', inForce)
    .where('account_id', '>', after)
    .orderBy('account_id')
    .limit(limit)
    .execute();
  return rows.map(({ account_id }) => account_id);
}

export async function putSubscription(tx: Sql, accountId: string, now: ProviderSubscription): Promise<void> {
  const { plan_key, status, cancel_at_period_end, current_period_end, created_at } = now;
  const state = { plan_key, status, cancel_at_period_end, current_period_end };
  await db(tx)
    .insertInto('subscriptions')
    .values({ provider_subscription_id: now.id, account_id: accountId, ...state, created_at })
    .onConflict((conflict) => conflict.column('provider_subscription_id').doUpdateSet(state))
    .execute();
}

export type PlanChangeRow = Readonly<Omit<Selectable<PlanChange>, 'done_at'>>;

const planChanges = (tx: Sql) => db(tx).selectFrom('plan_changes').selectAll();

export async function findPlanChange({ sql }: BillingDatabase, id: string): Promise<PlanChangeRow | undefined> {
  return planChanges(sql).where('id', '=', id).executeTakeFirst();
}

/**
 * Stores a change. If the account has an unanswered change to the same plan, that one is continued instead; if to
 * another plan, returns undefined. The customer must be locked.
 */
export async function beginPlanChange(
  tx: Sql,
  row: PlanChangeRow,
  unansweredMs: number,
): Promise<PlanChangeRow | undefined> {
  const since = new Date(row.created_at.getTime() - unansweredMs);
  const open = await planChanges(tx)
    .where('account_id', '=', row.account_id)
    .where('done_at', 'is', null)
    .where('created_at', '>', since)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (open) return open.to_plan_key === row.to_plan_key ? open : undefined;
  await db(tx)
    .insertInto('plan_changes')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return planChanges(tx).where('id', '=', row.id).executeTakeFirst();
}

export async function finishPlanChange({ sql }: BillingDatabase, id: string, now: Date): Promise<void> {
  const change = db(sql).updateTable('plan_changes').set({ done_at: now });
  await change.where('id', '=', id).where('done_at', 'is', null).execute();
}
