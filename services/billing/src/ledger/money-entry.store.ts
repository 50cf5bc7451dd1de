import { newId } from '@attribution/ids';
import type { Selectable } from 'kysely';
import type { MoneyEntry, MoneyEntryKind } from '../generated/kysely/types.ts';
import { type BillingDatabase, db, type Writing } from '../store.ts';

export interface NewEntry {
  readonly kind: MoneyEntryKind;
  /** In cents; positive for money received. */
  readonly amount: number;
  readonly description: string;
  /** Exactly one of `paymentId` and `refundId` is set. A lost dispute has `disputeId` too. */
  readonly paymentId?: string;
  readonly disputeId?: string;
  readonly refundId?: string;
}

/** Appends an entry after the latest; a database trigger updates the sum. */
export async function postEntry({ tx, customer, ledger, context }: Writing, entry: NewEntry): Promise<void> {
  ledger.last_seq += 1;
  ledger.ledger_cents += BigInt(entry.amount);
  const row = {
    id: newId('ledger_entry'),
    account_id: customer.account_id,
    seq: ledger.last_seq,
    kind: entry.kind,
    amount_cents: entry.amount,
    balance_after_cents: ledger.ledger_cents.toString(),
    currency: customer.currency,
    description: entry.description,
    payment_id: entry.paymentId ?? null,
    refund_id: entry.refundId ?? null,
    dispute_id: entry.disputeId ?? null,
    created_at: context.occurredAt,
  };
  await db(tx).insertInto('money_entries').values(row).execute();
}

export async function findEntries(
  { sql }: BillingDatabase,
  accountId: string,
  page: { limit: number; beforeSeq: number | undefined },
): Promise<Selectable<MoneyEntry>[]> {
  let entries = db(sql).selectFrom('money_entries').selectAll().where('account_id', '=', accountId);
  if (page.beforeSeq !== undefined) entries = entries.where('seq', '<', inRange(page.beforeSeq));
  return entries.orderBy('seq', 'desc').limit(page.limit).execute();
}

/** A cursor is untrusted input, and may hold a number that the column cannot. */
const inRange = (seq: number) => Math.min(Math.max(seq, 0), 2_147_483_647);
