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
  if (!balance) throw new Problem('unprocessable', `body.account_id: there is no account ${accountId}.`);
  const before = await findEntryByKey(tx, accountId, grant.idempotencyKey);
  if (before) return { entry: before, repeated: true };
  const entry = await insertEntry(tx, balance, { ...grant, amount: BigInt(grant.amount) });
  await tx.$executeRaw`
    INSERT INTO token_grants (entry_id, account_id, amount, remaining, priority, expires_at, created_at)
    VALUES (${entry.id}, ${accountId}, ${entry.amount}, ${entry.amount}, ${priority}, ${grant.expiresAt}, ${grant.now})`;
  return { entry, repeated: false };
}

/** Takes tokens from the grants, in the order in which they burn. */
export async function burn(tx: Sql, accountId: string, amount: bigint): Promise<void> {
  await tx.$executeRaw`
    UPDATE token_grants AS g SET remaining = g.remaining - least(o.remaining, ${amount}::bigint - o.before)
    FROM open_grants AS o WHERE o.account_id = ${accountId} AND o.before < ${amount}::bigint AND g.entry_id = o.entry_id`;
}

interface DueGrant {
  readonly entry_id: string;
  readonly account_id: string;
}

/** Grants whose time is over, with something left that no hold has reserved: holds reserve what burns first. */
export async function findDueGrants(database: AccountDatabase, now: Date, limit: number): Promise<readonly DueGrant[]> {
  return database.sql.$queryRaw`
    SELECT o.entry_id, o.account_id
    FROM (SELECT DISTINCT account_id FROM token_grants WHERE remaining > 0 AND expires_at <= ${now}) AS due
    JOIN balances AS b ON b.account_id = due.account_id
    CROSS JOIN LATERAL (SELECT * FROM open_grants WHERE account_id = due.account_id) AS o
    WHERE o.expires_at <= ${now} AND o.before + o.remaining > b.held
    ORDER BY o.expires_at LIMIT ${limit}`;
}

/** Takes what is left of a grant and not reserved; returns how much. The balance is locked. */
export async function takeRest(tx: Sql, { account_id, held }: BalanceRow, entryId: string): Promise<bigint> {
  const [row] = await tx.$queryRaw<{ taken: bigint }[]>`
    UPDATE token_grants AS g SET remaining = g.remaining - least(o.remaining, o.before + o.remaining - ${held}::bigint)
    FROM open_grants AS o
    WHERE o.account_id = ${account_id} AND o.entry_id = ${entryId} AND o.before + o.remaining > ${held}::bigint
      AND g.entry_id = o.entry_id
    RETURNING o.remaining - g.remaining AS taken`;
  return BigInt(row?.taken ?? 0);
}
