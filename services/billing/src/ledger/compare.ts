import type { ProviderPayment } from '../provider/index.ts';
import type { BooksRow, KeptPayment } from './check.store.ts';

/** An inconsistency, described for an operator. */
export interface Difference {
  readonly accountId: string;
  readonly what: string;
}

const inCents = (cents: number | bigint) => `${cents} cents`;

/** The inconsistencies within the rows of one account. */
export function compareBooks(books: BooksRow): string[] {
  const found: string[] = [];
  const { ledger_cents, entries_cents, last_seq, entries, paid_cents, refunded_cents } = books;
  if (entries_cents !== ledger_cents)
    found.push(`the ledger says ${inCents(ledger_cents)}, its entries ${inCents(entries_cents)}`);
  if (entries !== last_seq) found.push(`the ledger has ${entries} entries, the latest is number ${last_seq}`);
  if (paid_cents - refunded_cents !== entries_cents)
    found.push(
      `payments less refunds are ${inCents(paid_cents - refunded_cents)}, ledger entries ${inCents(entries_cents)}`,
    );
  if (books.unbooked > 0) found.push(`${books.unbooked} payments or refunds without their one ledger entry`);
  return found;
}

/** The differences between the stored payments of an account and those of the provider. */
export function comparePayments(kept: readonly KeptPayment[], reported: readonly ProviderPayment[]): string[] {
  const found: string[] = [];
  const rows = new Map(kept.map((row) => [row.provider_payment_id, row]));
  for (const payment of reported) {
    const row = rows.get(payment.id);
    rows.delete(payment.id);
    if (row) found.push(...comparePayment(row, payment));
    // A failed attempt to pay an invoice is not stored when another payment has paid that invoice.
    else if (payment.status === 'succeeded' || (payment.status === 'failed' && payment.invoice_id === null))
      found.push(
        `payment ${payment.id} of ${inCents(payment.amount_cents)} is ${payment.status} at the provider, unknown here`,
      );
  }
  for (const row of rows.values()) found.push(`payment ${row.id} is ${row.status} here, unknown at the provider`);
  return found;
}

function comparePayment(row: KeptPayment, reported: ProviderPayment): string[] {
  if (row.status !== reported.status)
    return [`payment ${row.id} is ${row.status} here, ${reported.status} at the provider`];
  if (row.status !== 'succeeded') return [];
  const found: string[] = [];
  if (row.amount_cents !== reported.amount_cents)
    found.push(
      `payment ${row.id} is of ${inCents(row.amount_cents)} here, ${inCents(reported.amount_cents)} at the provider`,
    );
  if (row.refunds_cents !== reported.refunded_cents)
    found.push(
      `of payment ${row.id} ${inCents(row.refunds_cents)} are refunded here, ${inCents(reported.refunded_cents)} at the provider`,
    );
  return found;
}
