import { createRefund, Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { implement } from '@attribution/service';
import { findPayment, lockedPayment, type PaymentRow } from '../payments/index.ts';
import { carryOut, type RefundDependencies } from './carry-out.ts';
import { findRefund, findRefundByKey, insertRefund, type RefundRow, sumRefunds } from './refund.store.ts';
import { tokensBack } from './refund.ts';
import { viewRefund } from './refund.view.ts';

interface RefundRequest {
  readonly payment_id: string;
  readonly idempotency_key: string;
  readonly amount_cents: number | null;
  readonly reason: string;
}

export const createRefundEndpoint = (deps: RefundDependencies) =>
  implement(createRefund, async ({ body }) => {
    const { database, writeFor, clock } = deps;
    const payment = await findPayment(database, body.account_id, body.payment_id);
    if (!payment) throw Problem.notFound();
    const refund = await writeFor(body.account_id, ({ tx }) => begin(tx, body, clock.now()));
    if (refund.status === 'pending' && refund.provider_refund_id === null) await carryOut(deps, refund, payment);
    const now = await findRefund(database.sql, refund.id);
    return viewRefund(now ?? refund);
  });

/**
 * Inserts the refund, or finds the one that was started under the same key. The customer is locked, so that concurrent
 * refunds see each other.
 */
async function begin(tx: Sql, requested: RefundRequest, now: Date): Promise<RefundRow> {
  const before = await findRefundByKey(tx, requested.payment_id, requested.idempotency_key);
  if (before) return requireSame(before, requested);
  const payment = await lockedPayment(tx, requested.payment_id);
  if (!payment) throw Problem.notFound();
  const refunded = await sumRefunds(tx, payment.id);
  const amount = requireAmount(payment, requested.amount_cents, payment.amount_cents - refunded);
  const row: RefundRow = {
    id: newId('refund'),
    account_id: payment.account_id,
    payment_id: payment.id,
    amount_cents: amount,
    token_amount: tokensBack(payment, refunded, amount),
    destination: 'payment_method',
    reason: requested.reason,
    status: 'pending',
    hold_id: null,
    provider_refund_id: null,
    idempotency_key: requested.idempotency_key,
    created_at: now,
  };
  await insertRefund(tx, row);
  return row;
}

function requireSame(before: RefundRow, { amount_cents, reason }: RefundRequest): RefundRow {
  const same = before.reason === reason && (amount_cents === null || amount_cents === before.amount_cents);
  if (same) return before;
  throw new Problem('conflict', `body.idempotency_key: was used for another refund, of ${before.amount_cents} cents.`);
}

function requireAmount({ id, status }: PaymentRow, requested: number | null, refundable: number): number {
  if (status !== 'succeeded') throw new Problem('conflict', `body.payment_id: payment ${id} is ${status}.`);
  const amount = requested ?? refundable;
  if (amount > 0 && amount <= refundable) return amount;
  throw new Problem('unprocessable', `body.amount_cents: of payment ${id} ${refundable} cents can be given back.`);
}
