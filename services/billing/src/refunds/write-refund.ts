import { refundFailed, refundSucceeded } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { newEvent } from '@attribution/messaging';
import { setCreditBalance } from '../customers/index.ts';
import { postEntry } from '../ledger/index.ts';
import { addCredited, lockedPayment, type PaymentRow } from '../payments/index.ts';
import { findPrices } from '../prices/index.ts';
import type { ProviderRefund } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { findRefund, findRefundOf, insertRefund, type RefundRow, setRefund, sumRefunds } from './refund.store.ts';
import { tokensBack } from './refund.ts';
import { destinationOf } from './refund.view.ts';

/** Stores the provider's state of a refund. Publishes each change of status and posts it to the ledger once. */
export async function writeRefund(writing: Writing, refund: ProviderRefund, payment: PaymentRow): Promise<void> {
  const { tx } = writing;
  const found = await findRefundOf(tx, refund);
  const row = found ?? (await insertFromProvider(writing, refund, payment));
  const status = refund.status === 'canceled' ? 'failed' : refund.status;
  // A refund that failed at the provider stays failed. One that was only assumed to have failed (it has no provider id)
  // may still exist there.
  const isFinal = row.status === 'failed' && row.provider_refund_id !== null;
  const changes = row.status !== status && !isFinal && !(row.status === 'succeeded' && status === 'pending');
  if (changes || row.provider_refund_id === null)
    await setRefund(tx, row.id, { status: changes ? status : row.status, providerId: refund.id });
  if (!changes || status === 'pending') return;
  if (status === 'succeeded') return book(writing, row, payment, 'succeeded');
  return book(writing, row, payment, row.status === 'succeeded' ? 'reversed' : 'failed');
}

/** Inserts a refund that was made at the provider, for which no tokens are held. */
async function insertFromProvider(
  { tx, customer, context }: Writing,
  refund: ProviderRefund,
  payment: PaymentRow,
): Promise<RefundRow> {
  const row: RefundRow = {
    id: newId('refund'),
    account_id: customer.account_id,
    payment_id: payment.id,
    amount_cents: refund.amount_cents,
    token_amount: tokensBack(payment, (await sumRefunds(tx, payment.id)).all, refund.amount_cents),
    destination: 'payment_method',
    reason: refund.reason,
    status: 'pending',
    hold_id: null,
    provider_refund_id: refund.id,
    idempotency_key: refund.id,
    created_at: context.occurredAt,
  };
  await insertRefund(tx, row);
  return row;
}

const words = { payment_method: 'Refund', store_credit: 'Refund to store credit' } as const;

type Outcome = 'succeeded' | 'failed' | 'reversed';

/** Posts the outcome to the ledger and publishes it. */
async function book(writing: Writing, row: RefundRow, payment: PaymentRow, outcome: Outcome): Promise<void> {
  const { tx, customer, context, publish } = writing;
  const name = (await findPrices(tx, [payment.plan_key])).get(payment.plan_key)?.name ?? payment.plan_key;
  const { id: refundId, amount_cents } = row;
  const destination = destinationOf(row);
  if (outcome === 'succeeded')
    await postEntry(writing, {
      kind: 'refund',
      amount: -amount_cents,
      description: `${words[destination]}: ${name}`,
      refundId,
    });
  if (outcome === 'reversed')
    await postEntry(writing, {
      kind: 'adjustment',
      amount: amount_cents,
      description: `Refund sent back: ${name}`,
      refundId,
    });
  const data = {
    account_id: customer.account_id,
    refund_id: refundId,
    payment_id: payment.id,
    description: name,
    amount_cents,
    currency: payment.currency,
    token_amount: row.token_amount,
    hold_id: row.hold_id,
    destination,
  };
  if (outcome === 'succeeded') publish(newEvent(refundSucceeded, data, context));
  else publish(newEvent(refundFailed, { ...data, reversed: outcome === 'reversed' }, context));
}

/**
 * Stores that a refund was added to the store credit, once even if several requests made it, and the balance after it.
 * `row` has the id of the credit.
 */
export async function writeCredited(writing: Writing, row: RefundRow, balanceCents: number): Promise<void> {
  const { tx, customer } = writing;
  await setCreditBalance(tx, customer.account_id, balanceCents);
  const [before, payment] = [await findRefund(tx, row.id), await lockedPayment(tx, row.payment_id)];
  if (!before || before.status === 'succeeded' || !payment) return;
  await setRefund(tx, row.id, { status: 'succeeded', providerId: row.provider_refund_id });
  await addCredited(tx, payment.id, row.amount_cents);
  await book(writing, { ...before, hold_id: row.hold_id }, payment, 'succeeded');
}

/** Stores that the provider refuses a refund, once even if several requests find out. */
export async function writeRefusal(writing: Writing, row: RefundRow, payment: PaymentRow): Promise<void> {
  if ((await findRefund(writing.tx, row.id))?.status !== 'pending') return;
  await setRefund(writing.tx, row.id, { status: 'failed', providerId: null });
  await book(writing, row, payment, 'failed');
}
