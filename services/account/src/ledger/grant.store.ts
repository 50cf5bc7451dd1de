import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { LedgerKind } from '../generated/prisma/enums.ts';
import type { AccountDatabase } from '../store.ts';
import { type BalanceRow, type EntryRow, findEntryByKey, insertEntry, lockBalance } from './ledger.store.ts';

export interface Grant {
  readonly accountId: string;
  readonly kind: LedgerKind;
  readonly amount: number;
  readonly description: string;
  /** Posting a grant again under the same key changes nothing. */
  readonly idempotencyKey: string;
  /** Grants with a lower number are used up first. */
  readonly priority: number;
  readonly expiresAt: Date | null;
  /** The entry of the purchase whose tokens these are, when they came back after its refund did. */
  readonly purchaseId?: string;
  readonly now: Date;
}

/**
 * Posts a grant: its ledger entry, and the row of its remaining tokens. Throws `unprocessable` when the account does
 * not exist.
 */
export async function postGrant(
  tx: Sql,
  { accountId, priority, purchaseId, ...grant }: Grant,
): Promise<{ entry: EntryRow; repeated: boolean }> {
  const balance = await lockBalance(tx, accountId);
  if (!balance) throw new Problem('unprocessable', `body.account_id: there is no account ${accountId}.`);
  const before = await findEntryByKey(tx, accountId, grant.idempotencyKey);
  if (before) return { entry: before, repeated: true };
  const entry = await insertEntry(tx, balance, { ...grant, amount: BigInt(grant.amount) });
  await tx.$executeRaw`
    INSERT INTO token_grants (entry_id, account_id, amount, remaining, priority, expires_at, created_at, purchase_id)
    VALUES (${entry.id}, ${accountId}, ${entry.amount}, ${entry.amount}, ${priority}, ${grant.expiresAt}, ${grant.now},
            ${purchaseId ?? null})`;
  return { entry, repeated: false };
}

/** The priority of purchased tokens. */
export const defaultPriority = 100;

/** The idempotency key of the ledger entry for a payment. */
export const purchaseKey = (paymentId: string) => `payment:${paymentId}`;

/** A grant with tokens of a purchase. */
export interface PurchaseGrant {
  readonly entry_id: string;
  /** The tokens that remain and are not reserved by a hold on this grant. */
  readonly open: number;
}

/**
 * The grants of a purchase: its own first, then those of its tokens that came back after a refund. Empty for an unknown
 * purchase. The balance must be locked.
 */
export async function findPurchaseGrants(
  tx: Sql,
  accountId: string,
  paymentId: string,
): Promise<readonly PurchaseGrant[]> {
  const rows = await tx.$queryRaw<{ entry_id: string; open: bigint }[]>`
    SELECT g.entry_id, g.remaining - g.reserved AS open
    FROM ledger_entries AS e JOIN token_grants AS g ON g.entry_id = e.id OR g.purchase_id = e.id
    WHERE e.account_id = ${accountId} AND e.idempotency_key = ${purchaseKey(paymentId)}
    ORDER BY g.entry_id <> e.id, g.entry_id`;
  return rows.map(({ entry_id, open }) => ({ entry_id, open: Number(open) }));
}

/** Takes tokens from one grant. */
export async function takeFrom(tx: Sql, grantId: string, amount: bigint): Promise<void> {
  await tx.$executeRaw`UPDATE token_grants SET remaining = remaining - ${amount}::bigint WHERE entry_id = ${grantId}`;
}

/** Takes tokens from the grants in their order of use, except tokens that are reserved by a hold on one grant. */
export async function burn(tx: Sql, accountId: string, amount: bigint): Promise<void> {
  await tx.$executeRaw`
    UPDATE token_grants AS g SET remaining = g.remaining - least(o.remaining, ${amount}::bigint - o.before)
    FROM open_grants AS o WHERE o.account_id = ${accountId} AND o.before < ${amount}::bigint AND g.entry_id = o.entry_id`;
}

interface DueAccount {
  readonly account_id: string;
}

/**
 * Accounts with expired grants of which some tokens remain that no hold has reserved, whether a hold on that grant or
 * a hold on the account.
 */
export async function findDueAccounts(
  database: AccountDatabase,
  now: Date,
  limit: number,
): Promise<readonly DueAccount[]> {
  return database.sql.$queryRaw`
    SELECT o.account_id
    FROM (SELECT DISTINCT account_id FROM token_grants
          WHERE remaining > 0 AND remaining > reserved AND expires_at <= ${now}) AS due
    JOIN balances AS b ON b.account_id = due.account_id
    CROSS JOIN LATERAL (SELECT coalesce(sum(reserved), 0) AS total FROM token_grants
                        WHERE account_id = due.account_id AND reserved > 0) AS r
    CROSS JOIN LATERAL (SELECT * FROM open_grants WHERE account_id = due.account_id) AS o
    WHERE o.expires_at <= ${now} AND o.before + o.remaining > b.held - r.total
    GROUP BY o.account_id ORDER BY min(o.expires_at) LIMIT ${limit}`;
}

interface TakenTokens {
  readonly entry_id: string;
  readonly taken: bigint;
}

/**
 * Takes the unreserved remainder of an account's expired grants. Holds reserve the tokens that are used up first, or
 * only those of their own grant. The balance must be locked.
 */
export async function takeExpiredTokens(
  tx: Sql,
  { account_id, held }: BalanceRow,
  now: Date,
): Promise<readonly TakenTokens[]> {
  const rows = await tx.$queryRaw<TakenTokens[]>`
    UPDATE token_grants AS g SET remaining = g.remaining - least(o.remaining, o.before + o.remaining - r.held)
    FROM open_grants AS o, (
      SELECT ${held}::bigint - coalesce(sum(reserved), 0)::bigint AS held FROM token_grants
      WHERE account_id = ${account_id} AND reserved > 0) AS r
    WHERE o.account_id = ${account_id} AND o.expires_at <= ${now} AND o.before + o.remaining > r.held
      AND g.entry_id = o.entry_id
    RETURNING g.entry_id, least(o.remaining, o.before + o.remaining - r.held) AS taken`;
  return rows.map(({ entry_id, taken }) => ({ entry_id, taken: BigInt(taken) }));
}
