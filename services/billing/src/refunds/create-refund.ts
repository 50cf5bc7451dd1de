import { type CallerName, createRefund, Problem, type RefundDestination } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import { newId } from '@attribution/ids';
import { implement, newAuditEvent } from '@attribution/service';
import type { z } from 'zod';
import { findPayment, lockedPayment, type PaymentRow } from '../payments/index.ts';
import type { Writing } from '../store.ts';
import { carryOut, type RefundDependencies } from './carry-out.ts';
import { findRefund, findRefundByKey, insertRefund, type RefundRow, sumRefunds } from './refund.store.ts';
import { type Returned, refundable, tokensBack } from './refund.ts';
import { viewRefund } from './refund.view.ts';

interface RefundRequest {
  readonly payment_id: string;
  readonly idempotency_key: string;
  readonly amount_cents: number | null;
  readonly destination: z.output<typeof RefundDestination>;
  readonly reason: string;
}

/** Who asks for it, and when. */
interface Origin {
  readonly caller: CallerName;
  readonly request: RequestContext;
  readonly now: Date;
}

export const createRefundEndpoint = (deps: RefundDependencies) =>
  implement(createRefund, async ({ body, caller, request }) => {
    const { database, writeFor, clock } = deps;
    const payment = await findPayment(database, body.account_id, body.payment_id);
    if (!payment) throw Problem.notFound();
    const refund = await writeFor(body.account_id, (writing) =>
      begin(writing, body, { caller, request, now: clock.now() }),
    );
    if (refund.status === 'pending' && refund.provider_refund_id === null) await carryOut(deps, refund, payment);
    const now = await findRefund(database.sql, refund.id);
    return viewRefund(now ?? refund);
  });

/**
 * Inserts the refund, or finds the one that was started under the same key. The customer is locked, so that concurrent
 * refunds see each other.
 */
async function begin({ tx, publish }: Writing, requested: RefundRequest, origin: Origin): Promise<RefundRow> {
  const { now } = origin;
  const before = await findRefundByKey(tx, requested.payment_id, requested.idempotency_key);
  if (before) return requireSame(before, requested);
  const payment = await lockedPayment(tx, requested.payment_id);
  if (!payment) throw Problem.notFound();
  const refunded = await sumRefunds(tx, payment.id);
  const amount = requireAmount(payment, requested, refunded);
  const row: RefundRow = {
    id: newId('refund'),
    account_id: payment.account_id,
    payment_id: payment.id,
    amount_cents: amount,
    token_amount: tokensBack(payment, refunded.all, amount),
    destination: requested.destination,
    reason: requested.reason,
    status: 'pending',
    hold_id: null,
    provider_refund_id: null,
    idempotency_key: requested.idempotency_key,
    created_at: now,
  };
  await insertRefund(tx, row);
  publish(recordOf(row, origin));
  return row;
}

const recordOf = (
  { id, account_id: accountId, payment_id, amount_cents, destination }: RefundRow,
  { caller, request, now }: Origin,
) =>
  newAuditEvent('billing', {
    accountId,
    action: createRefund.operation,
    actor: { type: 'service', id: caller },
    subject: { type: 'refund', id },
    details: { payment_id, amount_cents, destination },
    request,
    now,
  });

function requireSame(before: RefundRow, { amount_cents, destination, reason }: RefundRequest): RefundRow {
  const sameWay = before.reason === reason && before.destination === destination;
  const same = sameWay && (amount_cents === null || amount_cents === before.amount_cents);
  if (same) return before;
  throw new Problem('conflict', `body.idempotency_key: was used for another refund, of ${before.amount_cents} cents.`);
}

function requireAmount(
  payment: PaymentRow,
  { amount_cents, destination }: Pick<RefundRequest, 'amount_cents' | 'destination'>,
  returned: Returned,
): number {
  const { id, disputed } = payment;
  const status = disputed ? 'disputed' : payment.status;
  if (status !== 'succeeded') throw new Problem('conflict', `body.payment_id: payment ${id} is ${status}.`);
  const left = refundable(payment, returned, destination);
  const amount = amount_cents ?? left;
  if (amount > 0 && amount <= left) return amount;
  throw new Problem('unprocessable', `body.amount_cents: of payment ${id} ${left} cents can be given back.`);
}
