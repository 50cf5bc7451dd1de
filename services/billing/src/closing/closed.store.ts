import type { Sql } from '@attribution/database';
import type { BillingDatabase, Tx } from '../store.ts';

export async function markClosed(tx: Tx, accountId: string, now: Date): Promise<void> {
  await tx.customer.updateMany({ where: { account_id: accountId }, data: { closed_at: now } });
}

/** Something of a closed account that may still be paid for. */
export interface LeftOver {
  readonly kind: 'checkout' | 'subscription';
  readonly id: string;
}

export async function findLeftOvers({ sql }: BillingDatabase, limit: number): Promise<readonly LeftOver[]> {
  return sql.$queryRaw<LeftOver[]>`
    SELECT 'checkout' AS kind, k.provider_checkout_id AS id FROM customers AS c JOIN checkouts AS k USING (account_id)
    WHERE c.closed_at IS NOT NULL AND k.status = 'open' AND k.provider_checkout_id IS NOT NULL
    UNION ALL
    SELECT 'subscription', s.provider_subscription_id FROM customers AS c JOIN subscriptions AS s USING (account_id)
    WHERE c.closed_at IS NOT NULL AND NOT s.cancel_at_period_end AND s.status NOT IN ('canceled', 'incomplete_expired')
    LIMIT ${limit}`;
}

export async function isClosed(sql: Sql, accountId: string): Promise<boolean> {
  const rows = await sql.$queryRaw<object[]>`
    SELECT FROM customers WHERE account_id = ${accountId} AND closed_at IS NOT NULL`;
  return rows.length > 0;
}
