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

function statusOf({ status, amount_cents, refunded_cents }: PaymentRow): z.output<typeof Payment>['status'] {
  if (status !== 'succeeded' || refunded_cents === 0) return status;
  return refunded_cents < amount_cents ? 'partially_refunded' : 'refunded';
}
