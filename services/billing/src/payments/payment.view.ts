import type { Payment } from '@attribution/contracts';
import type { z } from 'zod';
import type { PaymentRow } from './payment.store.ts';

/** The representation of a payment in the API. */
export function viewPayment(row: PaymentRow) {
  const { id, account_id, kind, amount_cents, currency, token_amount, receipt_url } = row;
  return {
    id,
    account_id,
    kind,
    amount_cents,
    currency,
    token_amount,
    status: statusOf(row),
    receipt_url,
    created_at: row.created_at.toISOString(),
  };
}

function statusOf(row: PaymentRow): z.output<typeof Payment>['status'] {
  const { status, amount_cents, total_cents, refunded_cents, credited_cents } = row;
  if (row.disputed) return 'disputed';
  const returned = refunded_cents + credited_cents;
  if (status !== 'succeeded' || returned === 0) return status;
  // What was paid from store credit can be given back as store credit only.
  const all = credited_cents === 0 ? amount_cents : total_cents;
  return returned < all ? 'partially_refunded' : 'refunded';
}
