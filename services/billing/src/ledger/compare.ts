import type { ProviderCredit, ProviderDispute, ProviderPayment } from '../provider/index.ts';
import type { BooksRow, KeptCredit, KeptDispute, KeptPayment } from './check.store.ts';

/** An inconsistency, described for an operator. */
export interface Difference {
  readonly accountId: string;
  readonly what: string;
}

const inCents = (cents: number | bigint) => `${cents} cents`;

/** The inconsistencies within the rows of one account. */
export function compareBooks(books: BooksRow): string[] {
  const found: string[] = [];
  const { ledger_cents, entries_cents, last_seq, entries, paid_cents, refunded_cents, lost_cents } = books;
  if (entries_cents !== ledger_cents)
    found.push(`the ledger says ${inCents(ledger_cents)}, its entries ${inCents(entries_cents)}`);
  if (entries !== last_seq) found.push(`the ledger has ${entries} entries, the latest is number ${last_seq}`);
  const kept = paid_cents - refunded_cents - lost_cents;
  if (kept !== entries_cents)
    found.push(
      `payments less refunds and lost disputes are ${inCents(kept)}, ledger entries ${inCents(entries_cents)}`,
    );
  if (books.unbooked > 0) found.push(`${books.unbooked} payments, refunds or disputes without their one ledger entry`);
  return found;
}

/** The differences between the stored disputes and the provider's. `reported` are those of the stored ids. */
export function compareDisputes(
  kept: readonly KeptDispute[],
  reported: readonly ProviderDispute[],
  payments: { readonly kept: readonly KeptPayment[]; readonly reported: readonly ProviderPayment[] },
): string[] {
  const statuses = new Map(reported.map(({ id, status }) => [id, status]));
  const found = kept
    .filter(({ id, status }) => statuses.get(id) !== status)
    .map(({ id, status }) => `dispute ${id} is ${status} here, ${statuses.get(id) ?? 'unknown'} at the provider`);
  const disputed = new Set(kept.map(({ payment_id }) => payment_id));
  const rows = new Map(payments.kept.map((row) => [row.provider_payment_id, row.id]));
  for (const payment of payments.reported) {
    const id = rows.get(payment.id);
    if (payment.disputed && id !== undefined && !disputed.has(id))
      found.push(`payment ${id} is disputed at the provider, which is unknown here`);
  }
  return found;
}

/** The differences between the store credit as stored and at the provider. */
export function compareCredit(
  kept: { readonly balance: number; readonly credits: readonly KeptCredit[] },
  { balance, credits }: { readonly balance: number; readonly credits: readonly ProviderCredit[] },
): string[] {
  const found: string[] = [];
  if (kept.balance !== balance)
    found.push(`the store credit is ${inCents(kept.balance)} here, ${inCents(balance)} at the provider`);
  const given = Map.groupBy(credits, ({ reference }) => reference);
  for (const { id, amount_cents } of kept.credits) {
    const amounts = given.get(id)?.map((credit) => inCents(credit.amount_cents)) ?? [];
    given.delete(id);
    if (amounts.length !== 1 || amounts[0] !== inCents(amount_cents))
      found.push(
        `refund ${id} to store credit is of ${inCents(amount_cents)} here, ${amounts.join(' and ') || 'unknown'} at the provider`,
      );
  }
  for (const reference of given.keys()) found.push(`refund ${reference} to store credit is unknown here`);
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
  // A failed payment that is attempted again stays failed until it succeeds.
  const triedAgain = row.status === 'failed' && reported.status === 'pending';
  if (row.status !== reported.status && !triedAgain)
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
