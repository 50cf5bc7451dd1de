import type { Sql } from '@attribution/database';
import type { HoldStatus } from '../generated/prisma/enums.ts';
import type { AccountDatabase } from '../store.ts';

export interface HoldRow {
  readonly id: string;
  readonly account_id: string;
  readonly amount: bigint;
  readonly captured_amount: bigint;
  readonly status: HoldStatus;
  readonly description: string;
  readonly expires_at: Date;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
}

export interface NewHold {
  readonly id: string;
  readonly accountId: string;
  readonly amount: number;
  readonly description: string;
  readonly idempotencyKey: string;
  readonly expiresAt: Date;
  readonly now: Date;
}

/**
 * Reserves tokens of an active account; the database counts them, and refuses what is not available by
 * `balances_available_check`. Undefined where the key was used before, or there is no such account.
 */
export async function insertHold(tx: Sql, hold: NewHold): Promise<HoldRow | undefined> {
  const [row] = await tx.$queryRaw<HoldRow[]>`
    INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
    SELECT ${hold.id}, a.id, ${hold.amount}::bigint, ${hold.description}, ${hold.idempotencyKey}, ${hold.expiresAt}::timestamptz,
           ${hold.now}::timestamptz
    FROM accounts AS a WHERE a.id = ${hold.accountId} AND a.status = 'active'
    ON CONFLICT (account_id, idempotency_key) DO NOTHING
    RETURNING id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at`;
  return row;
}

export async function findHoldByKey(tx: Sql, accountId: string, key: string): Promise<HoldRow | undefined> {
  const [row] = await tx.$queryRaw<HoldRow[]>`
    SELECT id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at
    FROM token_holds WHERE account_id = ${accountId} AND idempotency_key = ${key}`;
  return row;
}

/** The hold, locked: nobody else resolves it meanwhile. Whoever needs the balance too locks that afterwards. */
export async function lockHold(tx: Sql, id: string): Promise<HoldRow | undefined> {
  const [row] = await tx.$queryRaw<HoldRow[]>`
    SELECT id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at
    FROM token_holds WHERE id = ${id} FOR UPDATE`;
  return row;
}

/** Undefined: there is no such account. */
export async function findAccountStatus(tx: Sql, accountId: string): Promise<string | undefined> {
  const [row] = await tx.$queryRaw<{ status: string }[]>`SELECT status FROM accounts WHERE id = ${accountId}`;
  return row?.status;
}

/** Resolves a pending, locked hold; the database gives back what it had reserved, and refuses to do so twice. */
export async function resolveHold(
  tx: Sql,
  id: string,
  to: { readonly status: Exclude<HoldStatus, 'pending'>; readonly captured?: number; readonly now: Date },
): Promise<HoldRow> {
  const [row] = await tx.$queryRaw<HoldRow[]>`
    UPDATE token_holds
    SET status = ${to.status}::"HoldStatus", captured_amount = ${to.captured ?? 0}, resolved_at = ${to.now}
    WHERE id = ${id}
    RETURNING id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at`;
  if (!row) throw new Error(`No hold ${id}`);
  return row;
}

/** Pending holds whose time is over. */
export async function findDueHolds(database: AccountDatabase, now: Date, limit: number): Promise<readonly HoldRow[]> {
  return database.sql.$queryRaw`
    SELECT id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at
    FROM token_holds WHERE status = 'pending' AND expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}`;
}
