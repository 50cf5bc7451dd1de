import type { Sql } from '@attribution/database';
import type { Refund } from '../generated/prisma/client.ts';
import type { RefundStatus } from '../generated/prisma/enums.ts';
import type { ProviderRefund } from '../provider/index.ts';
import type { BillingDatabase } from '../store.ts';

export type RefundRow = Refund;

export async function insertRefund(sql: Sql, row: RefundRow): Promise<void> {
  await sql.$executeRaw`
    INSERT INTO refunds (id, account_id, payment_id, amount_cents, token_amount, destination, reason, status, hold_id,
      provider_refund_id, idempotency_key, created_at)
    VALUES (${row.id}, ${row.account_id}, ${row.payment_id}, ${row.amount_cents}, ${row.token_amount}, ${row.destination},
      ${row.reason}, ${row.status}::"RefundStatus", ${row.hold_id}, ${row.provider_refund_id}, ${row.idempotency_key},
      ${row.created_at})`;
}

export async function findRefundByKey(sql: Sql, paymentId: string, key: string): Promise<RefundRow | undefined> {
  const [row] = await sql.$queryRaw<RefundRow[]>`
    SELECT * FROM refunds WHERE payment_id = ${paymentId} AND idempotency_key = ${key}`;
  return row;
}

/** The row of a refund at the provider: by its id there, or by ours, which travels with it. */
export async function findRefundOf(sql: Sql, { id, reference }: ProviderRefund): Promise<RefundRow | undefined> {
  const [row] = await sql.$queryRaw<RefundRow[]>`
    SELECT * FROM refunds WHERE provider_refund_id = ${id} OR id = ${reference}`;
  return row;
}

export async function findRefund(sql: Sql, id: string): Promise<RefundRow | undefined> {
  return (await sql.$queryRaw<RefundRow[]>`SELECT * FROM refunds WHERE id = ${id}`)[0];
}

/** Cents of a payment that are given back, or about to be. */
export async function sumRefunds(sql: Sql, paymentId: string): Promise<number> {
  const [row] = await sql.$queryRaw<{ sum: string }[]>`
    SELECT coalesce(sum(amount_cents), 0)::bigint AS sum FROM refunds
    WHERE payment_id = ${paymentId} AND status <> 'failed'`;
  return Number(row?.sum ?? 0);
}

export async function setHold(sql: Sql, id: string, holdId: string): Promise<void> {
  const changed = await sql.$executeRaw`UPDATE refunds SET hold_id = ${holdId} WHERE id = ${id}`;
  // Somebody else was refused it meanwhile, and took it away.
  if (changed === 0) throw new Error(`No refund ${id}`);
}

export async function setRefund(
  sql: Sql,
  id: string,
  to: { readonly status: RefundStatus; readonly providerId: string | null },
): Promise<void> {
  await sql.$executeRaw`
    UPDATE refunds SET status = ${to.status}::"RefundStatus", provider_refund_id = coalesce(${to.providerId}, provider_refund_id)
    WHERE id = ${id}`;
}

/** Of one that nobody has begun to carry out. */
export async function deleteRefund(sql: Sql, id: string): Promise<void> {
  await sql.$executeRaw`
    DELETE FROM refunds WHERE id = ${id} AND status = 'pending' AND hold_id IS NULL AND provider_refund_id IS NULL`;
}

/** Refunds that the provider has not answered for, longer than a request lasts. */
export async function findUnfinished({ sql }: BillingDatabase, before: Date, limit: number): Promise<RefundRow[]> {
  return sql.$queryRaw<RefundRow[]>`
    SELECT * FROM refunds WHERE status = 'pending' AND provider_refund_id IS NULL AND created_at < ${before}
    ORDER BY created_at LIMIT ${limit}` as Promise<RefundRow[]>;
}

export async function findRefunds(
  { prisma }: BillingDatabase,
  accountId: string,
  page: { limit: number; before: string | undefined },
): Promise<RefundRow[]> {
  return prisma.refund.findMany({
    where: { account_id: accountId, ...(page.before !== undefined && { id: { lt: page.before } }) },
    orderBy: { id: 'desc' },
    take: page.limit,
  });
}
