import { RefundDestination, RefundReason } from '@attribution/contracts';
import type { RefundRow } from './refund.store.ts';

/** The representation of a refund in the API. */
export const viewRefund = (row: RefundRow) => ({
  id: row.id,
  payment_id: row.payment_id,
  amount_cents: row.amount_cents,
  token_amount: row.token_amount,
  destination: destinationOf(row),
  reason: reasonOf(row),
  status: row.status,
  created_at: row.created_at.toISOString(),
});

/** The columns are of type text; their values were validated when they were written. */
export const reasonOf = ({ reason }: Pick<RefundRow, 'reason'>) => RefundReason.parse(reason);
export const destinationOf = ({ destination }: Pick<RefundRow, 'destination'>) => RefundDestination.parse(destination);
