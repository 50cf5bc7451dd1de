import type { Money } from './support-money.ts';

export const query = { query: { limit: 200 } } as const;

/** An account with so many payments, of which each was refunded and booked, and subscriptions that have ended. */
export async function booked(money: Money, rows: number) {
  const tenant = await money.newTenant();
  const values = [tenant.account, rows];
  await money.db.query(
    `WITH paid AS (
       INSERT INTO payments (id, account_id, kind, plan_key, amount_cents, total_cents, refunded_cents, currency, token_amount, status,
         provider_payment_id, created_at)
       SELECT 'pay_' || uuidv7(), $1, 'token_pack', 'tokens_1000', 900, 900, 100, 'usd', 1000, 'succeeded', $1 || n, now()
       FROM generate_series(1, $2::int) AS n RETURNING id)
     INSERT INTO refunds (id, account_id, payment_id, amount_cents, token_amount, destination, reason, status, provider_refund_id,
       idempotency_key, created_at)
     SELECT 'ref_' || uuidv7(), $1, id, 100, 112, 'payment_method', 'duplicate', 'succeeded', id, id, now() FROM paid`,
    values,
  );
  await money.db.query(
    `INSERT INTO money_entries (id, account_id, seq, kind, amount_cents, balance_after_cents, currency, description, payment_id,
       created_at)
     SELECT 'led_' || uuidv7(), $1, n, 'payment', 900, 900 * n, 'usd', '', p.id, now()
     FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM payments WHERE account_id = $1) p
     WHERE n <= $2 ORDER BY n`,
    values,
  );
  await money.db.query(
    `INSERT INTO subscriptions (provider_subscription_id, account_id, plan_key, status, cancel_at_period_end, created_at)
     SELECT $1 || n, $1, 'starter', 'canceled', false, now() - interval '1 year' FROM generate_series(1, $2::int) AS n`,
    values,
  );
  return tenant;
}

/** The same, with a subscription that runs. */
export async function subscribed(money: Money, rows: number) {
  const tenant = await booked(money, rows);
  await money.buy(tenant, 'starter');
  return tenant;
}
