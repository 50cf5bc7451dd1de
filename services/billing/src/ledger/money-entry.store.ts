import { newId } from '@attribution/ids';
import type { MoneyEntryKind } from '../generated/prisma/enums.ts';
import type { BillingDatabase, Writing } from '../store.ts';

export interface NewEntry {
  readonly kind: MoneyEntryKind;
  /** Signed cents: what came in is above nought. */
  readonly amount: number;
  readonly description: string;
  /** One of the two. */
  readonly paymentId?: string;
  readonly refundId?: string;
}

/** Appends an entry behind the latest; the database moves the sum with it. */
export async function postEntry({ tx, customer, ledger, context }: Writing, entry: NewEntry): Promise<void> {
  ledger.last_seq += 1;
  ledger.ledger_cents += BigInt(entry.amount);
  await tx.$executeRaw`
    INSERT INTO money_entries (id, account_id, seq, kind, amount_cents, balance_after_cents, currency, description, payment_id,
      refund_id, created_at)
    VALUES (${newId('ledger_entry')}, ${customer.account_id}, ${ledger.last_seq}, ${entry.kind}::"MoneyEntryKind", ${entry.amount},
      ${ledger.ledger_cents}, ${customer.currency}, ${entry.description}, ${entry.paymentId ?? null},
      ${entry.refundId ?? null}, ${context.occurredAt})`;
}

export async function findEntries(
  { prisma }: BillingDatabase,
  accountId: string,
  page: { limit: number; beforeSeq: number | undefined },
) {
  return prisma.moneyEntry.findMany({
    where: { account_id: accountId, ...(page.beforeSeq !== undefined && { seq: { lt: inRange(page.beforeSeq) } }) },
    orderBy: { seq: 'desc' },
    take: page.limit,
  });
}

/** A cursor is text that came from outside: the column holds less than that can say. */
const inRange = (seq: number) => Math.min(Math.max(seq, 0), 2_147_483_647);
