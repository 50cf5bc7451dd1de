import type { Sql } from '@attribution/database';
import type { Payment } from '../generated/prisma/client.ts';
import type { BillingDatabase } from '../store.ts';
import type { ToldPayment } from './payment.ts';

export type PaymentRow = Payment;

/** What is kept of a payment under one of its ids at the provider. */
export async function findPaymentOf(
  tx: Sql,
  { provider_payment_id, provider_invoice_id }: Pick<ToldPayment, 'provider_payment_id' | 'provider_invoice_id'>,
): Promise<PaymentRow | undefined> {
  const [row] = await tx.$queryRaw<PaymentRow[]>`
    SELECT * FROM payments
    WHERE provider_payment_id = ${provider_payment_id} OR provider_invoice_id = ${provider_invoice_id}`;
  return row;
}

/** Writes what the provider says; what has succeeded keeps its amounts. */
export async function putPayment(tx: Sql, id: string, accountId: string, told: ToldPayment): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO payments AS p (id, account_id, kind, plan_key, amount_cents, total_cents, refunded_cents, currency, token_amount, status,
      receipt_url, provider_payment_id, provider_invoice_id, created_at)
    VALUES (${id}, ${accountId}, ${told.kind}::"PlanPriceKind", ${told.plan_key}, ${told.amount_cents}, ${told.total_cents}, ${told.refunded_cents},
      ${told.currency}, ${told.token_amount}, ${told.status}::"PaymentStatus", ${told.receipt_url},
      ${told.provider_payment_id}, ${told.provider_invoice_id}, ${told.created_at})
    ON CONFLICT (id) DO UPDATE SET
      status = excluded.status,
      amount_cents = CASE p.status WHEN 'succeeded' THEN p.amount_cents ELSE excluded.amount_cents END,
      total_cents = CASE p.status WHEN 'succeeded' THEN p.total_cents ELSE excluded.total_cents END,
      token_amount = CASE p.status WHEN 'succeeded' THEN p.token_amount ELSE excluded.token_amount END,
      refunded_cents = excluded.refunded_cents, receipt_url = excluded.receipt_url,
      provider_payment_id = coalesce(excluded.provider_payment_id, p.provider_payment_id),
      provider_invoice_id = coalesce(excluded.provider_invoice_id, p.provider_invoice_id)`;
}

export async function findPayments(
  { prisma }: BillingDatabase,
  accountId: string,
  page: { limit: number; before: string | undefined },
): Promise<PaymentRow[]> {
  return prisma.payment.findMany({
    where: { account_id: accountId, ...(page.before !== undefined && { id: { lt: page.before } }) },
    orderBy: { id: 'desc' },
    take: page.limit,
  });
}

export async function findPayment(
  { prisma }: BillingDatabase,
  accountId: string,
  id: string,
): Promise<PaymentRow | undefined> {
  return (await prisma.payment.findUnique({ where: { id, account_id: accountId } })) ?? undefined;
}

export async function lockedPayment(tx: Sql, id: string): Promise<PaymentRow | undefined> {
  return (await tx.$queryRaw<PaymentRow[]>`SELECT * FROM payments WHERE id = ${id}`)[0];
}
