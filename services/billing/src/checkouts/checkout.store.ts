import type { Sql } from '@attribution/database';
import type { CheckoutMode, CheckoutStatus } from '../generated/prisma/enums.ts';
import type { BillingDatabase } from '../store.ts';

export interface CheckoutRow {
  readonly id: string;
  readonly account_id: string;
  readonly mode: CheckoutMode;
  readonly plan_key: string;
  readonly return_url: string | null;
  readonly status: CheckoutStatus;
  readonly provider_checkout_id: string | null;
  readonly url: string | null;
  readonly created_by: string;
  readonly created_at: Date;
}

export type NewCheckoutRow = Omit<CheckoutRow, 'status' | 'provider_checkout_id' | 'url'>;

/** Writes a checkout down, unless it is there; answers it. */
export async function putCheckout({ sql }: BillingDatabase, row: NewCheckoutRow): Promise<CheckoutRow> {
  await sql.$executeRaw`
    INSERT INTO checkouts (id, account_id, mode, plan_key, return_url, created_by, created_at)
    VALUES (${row.id}, ${row.account_id}, ${row.mode}::"CheckoutMode", ${row.plan_key}, ${row.return_url}, ${row.created_by},
      ${row.created_at})
    ON CONFLICT DO NOTHING`;
  const found = await findCheckout(sql, row.account_id, row.id);
  if (!found) throw new Error(`No checkout ${row.id}`);
  return found;
}

export async function findCheckout(sql: Sql, accountId: string, id: string): Promise<CheckoutRow | undefined> {
  const [row] = await sql.$queryRaw<CheckoutRow[]>`
    SELECT * FROM checkouts WHERE id = ${id} AND account_id = ${accountId}`;
  return row;
}

/** Pages on which the account could begin to subscribe, the newest first. */
export async function findOpenSubscriptions(sql: Sql, accountId: string): Promise<CheckoutRow[]> {
  const rows = await sql.$queryRaw<CheckoutRow[]>`
    SELECT * FROM checkouts WHERE account_id = ${accountId} AND mode = 'subscription' AND status = 'open' ORDER BY id DESC`;
  return rows;
}

/** What the provider says of it; an end is final. */
export async function setCheckout(
  sql: Sql,
  id: string,
  told: { readonly providerId: string; readonly url: string | null; readonly status: CheckoutStatus },
): Promise<void> {
  await sql.$executeRaw`
    UPDATE checkouts SET provider_checkout_id = ${told.providerId}, url = coalesce(${told.url}, url),
      status = CASE status WHEN 'open' THEN ${told.status}::"CheckoutStatus" ELSE status END
    WHERE id = ${id}`;
}
