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
  /** A grant with a key that was posted before changes nothing. */
  readonly idempotencyKey: string;
  /** Lower burns first. */
  readonly priority: number;
  readonly expiresAt: Date | null;
  readonly now: Date;
}

/** Posts a grant: its ledger entry, and what is left of it. Throws `unprocessable` where there is no such account. */
export async function postGrant(
  tx: Sql,
  { accountId, priority, ...grant }: Grant,
): Promise<{ entry: EntryRow; repeated: boolean }> {
  const balance = await lockBalance(tx, accountId);
  if (!balance) throw new Problem('unprocessable', `account_id: there is no account ${accountId}.`);
  const before = await findEntryByKey(tx, accountId, grant.idempotencyKey);
  if (before) return { entry: before, repeated: true };
  const entry = await insertEntry(tx, balance, { ...grant, amount: BigInt(grant.amount) });
  await tx.$executeRaw`
    INSERT INTO token_grants (entry_id, account_id, amount, remaining, priority, expires_at, created_at)
    VALUES (${entry.id}, ${accountId}, ${entry.amount}, ${entry.amount}, ${priority}, ${grant.expiresAt}, ${grant.now})`;
  return { entry, repeated: false };
}

/** Takes tokens from the grants: by priority, then the earliest to expire, then the oldest. */
export async function burn(tx: Sql, accountId: string, amount: bigint): Promise<void> {
  await tx.$executeRaw`
    WITH open AS (
      SELECT entry_id, remaining, sum(remaining) OVER (
        ORDER BY priority, expires_at NULLS LAST, created_at, entry_id) - remaining AS before
      FROM token_grants WHERE account_id = ${accountId} AND remaining > 0
    )
    UPDATE token_grants AS g SET remaining = g.remaining - least(open.remaining, ${amount}::bigint - open.before)
    FROM open WHERE g.entry_id = open.entry_id AND open.before < ${amount}::bigint`;
}

/** Grants with something left, in the order in which they burn. */
export async function findOpenGrants(database: AccountDatabase, accountId: string) {
  return database.prisma.tokenGrant.findMany({
    where: { account_id: accountId, remaining: { gt: 0n } },
    orderBy: [{ priority: 'asc' }, { expires_at: { sort: 'asc', nulls: 'last' } }, { created_at: 'asc' }],
  });
}

/** Grants whose time is over, of accounts with tokens that no hold has reserved. */
export async function findDueGrants(
  database: AccountDatabase,
  now: Date,
  limit: number,
): Promise<readonly { entry_id: string; account_id: string }[]> {
  return database.sql.$queryRaw`
    SELECT g.entry_id, g.account_id FROM token_grants AS g JOIN balances AS b ON b.account_id = g.account_id
    WHERE g.remaining > 0 AND g.expires_at <= ${now} AND b.posted > b.held
    ORDER BY g.expires_at LIMIT ${limit}`;
}

/** Takes what is left of a grant, as far as no hold has reserved it; returns how much. The balance is locked. */
export async function takeRest(tx: Sql, balance: BalanceRow, entryId: string): Promise<bigint> {
  const [row] = await tx.$queryRaw<{ taken: bigint }[]>`
    UPDATE token_grants AS g SET remaining = g.remaining - least(g.remaining, ${balance.posted - balance.held}::bigint)
    FROM token_grants AS old WHERE g.entry_id = ${entryId} AND old.entry_id = g.entry_id
    RETURNING old.remaining - g.remaining AS taken`;
  return BigInt(row?.taken ?? 0);
}
