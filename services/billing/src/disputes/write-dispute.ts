import { disputeLost, disputeOpened, disputeWon } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { postEntry } from '../ledger/index.ts';
import type { PaymentRow } from '../payments/index.ts';
import { findPrices } from '../prices/index.ts';
import { type ProviderDispute, ProviderError } from '../provider/index.ts';
import type { Writing } from '../store.ts';
import { type DisputeRow, findDispute, markDisputed, putDispute } from './dispute.store.ts';
import { disputedShare } from './dispute.ts';

/**
 * Stores the provider's state of a dispute. Publishes each change of status, and posts the money that is gone to the ledger
 * once. What is decided stays so.
 */
export async function writeDispute(writing: Writing, dispute: ProviderDispute, payment: PaymentRow): Promise<void> {
  const { tx, customer, context, publish } = writing;
  const before = await findDispute(tx, dispute.id);
  // An invoice becomes paid a moment after its payment: the notification is tried again.
  if (payment.status !== 'succeeded') throw new ProviderError('unavailable', 'What is disputed is not paid yet.');
  if (before && (before.status !== 'open' || dispute.status === 'open')) return;
  const row: DisputeRow = before
    ? { ...before, status: dispute.status }
    : {
        id: dispute.id,
        account_id: customer.account_id,
        payment_id: payment.id,
        ...disputedShare(payment, dispute.amount_cents),
        reason: dispute.reason,
        status: dispute.status,
        created_at: dispute.created_at,
      };
  await putDispute(tx, row);
  await markDisputed(tx, payment.id);
  const name = (await findPrices(tx, [payment.plan_key])).get(payment.plan_key)?.name ?? payment.plan_key;
  const { id: disputeId, amount_cents, token_amount, reason } = row;
  if (row.status === 'lost')
    await postEntry(writing, {
      kind: 'dispute',
      amount: -amount_cents,
      description: `Lost dispute: ${name}`,
      paymentId: payment.id,
      disputeId,
    });
  const data = {
    account_id: customer.account_id,
    payment_id: payment.id,
    dispute_id: disputeId,
    description: name,
    amount_cents,
    currency: payment.currency,
    token_amount,
  };
  if (row.status === 'open') publish(newEvent(disputeOpened, { ...data, reason }, context));
  else publish(newEvent(row.status === 'won' ? disputeWon : disputeLost, data, context));
}
