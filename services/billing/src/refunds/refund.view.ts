import { RefundReason } from '@attribution/contracts';
import type { RefundRow } from './refund.store.ts';

/** The representation of a refund in the API. */
export const viewRefund = (row: RefundRow) => ({
  id: row.id,
  payment_id: row.payment_id,
  amount_cents: row.amount_cents,
  token_amount: row.token_amount,
  destination: 'payment_method' as const,
  reason: reasonOf(row),
  status: row.status,
  created_at: row.created_at.toISOString(),
});

/** The column is of type text; its values were validated when they were written. */
export const reasonOf = ({ reason }: Pick<RefundRow, 'reason'>) => RefundReason.parse(reason);
