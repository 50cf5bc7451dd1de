import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { type BillingDatabase, db } from '../store.ts';

export async function markClosed(tx: Sql, accountId: string, now: Date): Promise<void> {
  await db(tx).updateTable('customers').set({ closed_at: now }).where('account_id', '=', accountId).execute();
}

/** A subscription or an open checkout of a closed account, which could still be charged. */
export interface LeftOver {
  readonly kind: 'checkout' | 'subscription';
  readonly id: string;
}

export async function findLeftOvers(database: BillingDatabase, limit: number): Promise<readonly LeftOver[]> {
  const closed = db(database.sql).selectFrom('customers').where('closed_at', 'is not', null);
  const checkouts = closed
    .innerJoin('checkouts', 'checkouts.account_id', 'customers.account_id')
    .where('status', '=', 'open')
    .where('provider_checkout_id', 'is not', null)
    .select([sql.lit('checkout').as('kind'), 'provider_checkout_id as id'])
    .$narrowType<LeftOver>();
  const subscriptions = closed
    .innerJoin('subscriptions', 'subscriptions.account_id', 'customers.account_id')
    .where('cancel_at_period_end', '=', false)
    .where('status', 'not in', ['canceled', 'incomplete_expired'])
    .select([sql.lit('subscription').as('kind'), 'provider_subscription_id as id'])
    .$narrowType<LeftOver>();
  return checkouts.unionAll(subscriptions).limit(limit).execute();
}

export async function isClosed(tx: Sql, accountId: string): Promise<boolean> {
  const closed = db(tx).selectFrom('customers').where('account_id', '=', accountId).where('closed_at', 'is not', null);
  return (await closed.select('account_id').executeTakeFirst()) !== undefined;
}
