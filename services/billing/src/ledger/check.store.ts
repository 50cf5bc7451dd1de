import type { Sql } from '@attribution/database';
import type { PaymentStatus } from '../generated/prisma/enums.ts';

/** The sums of one account, as each table tells them. */
export interface BooksRow {
  readonly account_id: string;
  readonly provider_customer_id: string | null;
  readonly ledger_cents: bigint;
  readonly last_seq: number;
  readonly entries_cents: bigint;
  readonly entries: number;
  readonly paid_cents: bigint;
  readonly refunded_cents: bigint;
  readonly unbooked: number;
}

/** The books of accounts behind one, in the order of their ids; `only`: of these alone. */
export async function findBooks(
  sql: Sql,
  page: { readonly after: string; readonly limit: number; readonly only: readonly string[] | null },
): Promise<BooksRow[]> {
  const rows = await sql.$queryRaw<BooksRow[]>`
    SELECT c.account_id, c.provider_customer_id, c.ledger_cents, c.last_seq, e.cents AS entries_cents, e.count AS entries,
      p.cents AS paid_cents, r.cents AS refunded_cents, p.unbooked + r.unbooked AS unbooked
    FROM (SELECT * FROM customers WHERE account_id > ${page.after}
            AND (${page.only}::text[] IS NULL OR account_id = ANY(${page.only}::text[]))
          ORDER BY account_id LIMIT ${page.limit}) AS c
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount_cents), 0)::bigint AS cents, count(*)::int AS count
      FROM money_entries WHERE account_id = c.account_id) AS e
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(p.amount_cents), 0)::bigint AS cents,
        (count(*) FILTER (WHERE p.amount_cents > 0 AND m.amount_cents IS DISTINCT FROM p.amount_cents))::int AS unbooked
      FROM payments AS p LEFT JOIN money_entries AS m ON m.payment_id = p.id AND m.kind = 'payment'
      WHERE p.account_id = c.account_id AND p.status = 'succeeded') AS p
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(r.amount_cents), 0)::bigint AS cents,
        (count(*) FILTER (WHERE m.amount_cents IS DISTINCT FROM -r.amount_cents))::int AS unbooked
      FROM refunds AS r LEFT JOIN money_entries AS m ON m.refund_id = r.id AND m.kind = 'refund'
      WHERE r.account_id = c.account_id AND r.status = 'succeeded') AS r`;
  return rows.map((row) => ({
    ...row,
    ledger_cents: BigInt(row.ledger_cents),
    entries_cents: BigInt(row.entries_cents),
    paid_cents: BigInt(row.paid_cents),
    refunded_cents: BigInt(row.refunded_cents),
  }));
}

export interface KeptPayment {
  readonly id: string;
  readonly provider_payment_id: string;
  readonly status: PaymentStatus;
  readonly amount_cents: number;
  /** Of refunds that have not failed. */
  readonly refunds_cents: number;
}

export async function findKeptPayments(sql: Sql, accountId: string): Promise<KeptPayment[]> {
  const rows = await sql.$queryRaw<KeptPayment[]>`
    SELECT p.id, p.provider_payment_id, p.status, p.amount_cents, coalesce(sum(r.amount_cents), 0)::int AS refunds_cents
    FROM payments AS p LEFT JOIN refunds AS r ON r.payment_id = p.id AND r.status <> 'failed'
    WHERE p.account_id = ${accountId} AND p.provider_payment_id IS NOT NULL
    GROUP BY p.id`;
  return rows;
}

/** Notifications that have waited since before a time. */
export async function countWaiting(sql: Sql, before: Date): Promise<number> {
  const [row] = await sql.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM provider_events WHERE due_at IS NOT NULL AND received_at < ${before}`;
  return row?.count ?? 0;
}
