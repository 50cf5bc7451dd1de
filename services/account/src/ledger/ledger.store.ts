import type { Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import type { LedgerKind } from '../generated/prisma/enums.ts';
import type { AccountDatabase } from '../store.ts';

export interface BalanceRow {
  readonly account_id: string;
  readonly posted: bigint;
  readonly held: bigint;
  readonly last_seq: bigint;
}

export interface EntryRow {
  readonly id: string;
  readonly account_id: string;
  readonly seq: bigint;
  readonly kind: LedgerKind;
  readonly amount: bigint;
  readonly balance_after: bigint;
  readonly description: string;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

export interface NewEntry {
  readonly kind: LedgerKind;
  readonly amount: bigint;
  readonly description: string;
  readonly idempotencyKey: string;
  readonly expiresAt?: Date | null;
  readonly now: Date;
}

/**
 * Locks the balance, which serializes everything that moves an account's tokens. A transaction locks it before any of the
 * account's holds, grants and entries, lest two of them deadlock.
 */
export async function lockBalance(tx: Sql, accountId: string): Promise<BalanceRow | undefined> {
  const [row] = await tx.$queryRaw<BalanceRow[]>`
    SELECT account_id, posted, held, last_seq FROM balances WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return row && withNumbers(row);
}

/** The same, of the account of a hold. */
export async function lockBalanceOfHold(tx: Sql, holdId: string): Promise<BalanceRow | undefined> {
  const [row] = await tx.$queryRaw<BalanceRow[]>`
    SELECT account_id, posted, held, last_seq FROM balances
    WHERE account_id = (SELECT account_id FROM token_holds WHERE id = ${holdId}) FOR NO KEY UPDATE`;
  return row && withNumbers(row);
}

/** pg gives numbers of 64 bits as text. */
const withNumbers = (row: BalanceRow): BalanceRow => ({
  ...row,
  posted: BigInt(row.posted),
  held: BigInt(row.held),
  last_seq: BigInt(row.last_seq),
});

/** The entry that was posted under this key. */
export async function findEntryByKey(tx: Sql, accountId: string, key: string): Promise<EntryRow | undefined> {
  const [row] = await tx.$queryRaw<EntryRow[]>`
    SELECT id, account_id, seq, kind, amount, balance_after, description, expires_at, created_at
    FROM ledger_entries WHERE account_id = ${accountId} AND idempotency_key = ${key}`;
  return row;
}

/** Appends an entry after the latest; a database trigger updates the balance. Negative amounts subtract. */
export async function insertEntry(tx: Sql, balance: BalanceRow, entry: NewEntry): Promise<EntryRow> {
  const row: EntryRow = {
    id: newId('ledger_entry'),
    account_id: balance.account_id,
    seq: balance.last_seq + 1n,
    kind: entry.kind,
    amount: entry.amount,
    balance_after: balance.posted + entry.amount,
    description: entry.description,
    expires_at: entry.expiresAt ?? null,
    created_at: entry.now,
  };
  await tx.$executeRaw`
    INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, expires_at, created_at)
    VALUES (${row.id}, ${row.account_id}, ${row.seq}, ${row.kind}::"LedgerKind", ${row.amount}, ${row.balance_after},
            ${row.description}, ${entry.idempotencyKey}, ${row.expires_at}, ${row.created_at})`;
  return row;
}

/** At most `limit` entries below `beforeSeq`, newest first. */
export async function findEntries(
  database: AccountDatabase,
  accountId: string,
  limit: number,
  beforeSeq: number | undefined,
) {
  return database.prisma.ledgerEntry.findMany({
    where: { account_id: accountId, ...(beforeSeq !== undefined && { seq: { lt: BigInt(beforeSeq) } }) },
    orderBy: { seq: 'desc' },
    take: limit,
  });
}

interface GrantRow {
  readonly entry_id: string;
  readonly amount: bigint;
  readonly remaining: bigint;
  readonly priority: number;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

/**
 * The balance and the remaining grants, reserved or not, in their order of use (that of `open_grants`). Both come from
 * one statement, so that they agree.
 */
export async function findBalanceWithGrants({ sql }: Pick<AccountDatabase, 'sql'>, accountId: string) {
  const rows = await sql.$queryRaw<({ posted: string; held: string } & (GrantRow | { entry_id: null }))[]>`
    SELECT b.posted, b.held, g.entry_id, g.amount, g.remaining, g.priority, g.expires_at, g.created_at
    FROM balances AS b LEFT JOIN token_grants AS g ON g.account_id = b.account_id AND g.remaining > 0
    WHERE b.account_id = ${accountId} ORDER BY g.priority, g.expires_at NULLS LAST, g.created_at, g.entry_id`;
  const [first] = rows;
  if (!first) return undefined;
  const grants = rows.filter((row) => row.entry_id !== null);
  return { posted: BigInt(first.posted), held: BigInt(first.held), grants };
}
