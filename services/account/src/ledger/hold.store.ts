import type { Sql } from '@attribution/database';
import type { ChangeStatement } from '@attribution/messaging';
import type { HoldStatus } from '../generated/prisma/enums.ts';
import type { AccountDatabase } from '../store.ts';
import { type BalanceRow, lockBalanceOfHold } from './ledger.store.ts';

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
  /** The grant of a purchase, when the hold reserves only tokens of that purchase. */
  readonly grant_id: string | null;
}

export interface NewHold {
  readonly id: string;
  readonly accountId: string;
  readonly amount: number;
  readonly description: string;
  readonly idempotencyKey: string;
  readonly expiresAt: Date;
  readonly now: Date;
  /** The first of several holds on the grants of one purchase. */
  readonly partOf?: string;
}

/**
 * Reserves tokens of active accounts, one hold after the other while enough tokens are available. Returns no row for a
 * hold whose key was used before, whose account does not exist, for which too few tokens are available, or whose
 * account still has an expired grant with tokens left. `swept` means that expired grants were taken back under the
 * lock of the balance, so that the remaining tokens can be reserved.
 */
export const holdingTokens = (holds: readonly NewHold[], swept = false): ChangeStatement => ({
  text: `asked AS MATERIALIZED (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[])
        WITH ORDINALITY AS a (id, account_id, amount, description, idempotency_key, expires_at, created_at, ordinal)
    ), balance AS MATERIALIZED (
      SELECT account_id, posted - held AS available FROM balances
      WHERE account_id = ANY($2::text[]) ORDER BY account_id FOR NO KEY UPDATE
    ), fitting AS (
      SELECT a.*, sum(a.amount) OVER (PARTITION BY a.account_id ORDER BY a.ordinal) <= b.available AS fits
      FROM asked AS a JOIN balance AS b USING (account_id) JOIN accounts AS c ON c.id = a.account_id
      WHERE c.status = 'active' AND ($8::boolean OR NOT EXISTS (
        SELECT FROM token_grants AS g WHERE g.account_id = a.account_id AND g.remaining > g.reserved AND g.expires_at <= a.created_at))
    ), changed AS (
      INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
      SELECT id, account_id, amount, description, idempotency_key, expires_at, created_at FROM fitting WHERE fits
      ON CONFLICT (account_id, idempotency_key) DO NOTHING
      RETURNING id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at, grant_id
    )`,
  values: [
    holds.map(({ id }) => id),
    holds.map(({ accountId }) => accountId),
    holds.map(({ amount }) => amount),
    holds.map(({ description }) => description),
    holds.map(({ idempotencyKey }) => idempotencyKey),
    holds.map(({ expiresAt }) => expiresAt),
    holds.map(({ now }) => now),
    swept,
  ],
});

/** The same as `holdingTokens` for one hold, with the balance locked and expired grants taken back. */
export async function insertHold(tx: Sql, hold: NewHold): Promise<HoldRow | undefined> {
  const { text, values } = holdingTokens([hold], true);
  return (await tx.$queryRawUnsafe<HoldRow[]>(`WITH ${text} SELECT * FROM changed`, ...values))[0];
}

/** Reserves tokens of one grant. The balance must be locked, and enough tokens must be available. */
export async function insertHoldOf(tx: Sql, grantId: string, hold: NewHold): Promise<HoldRow> {
  const { id, accountId, amount, description, idempotencyKey, expiresAt, now, partOf = null } = hold;
  const [row] = await tx.$queryRaw<HoldRow[]>`
    INSERT INTO token_holds (id, account_id, grant_id, amount, description, idempotency_key, expires_at, created_at, part_of)
    VALUES (${id}, ${accountId}, ${grantId}, ${amount}, ${description}, ${idempotencyKey}, ${expiresAt}, ${now}, ${partOf})
    RETURNING id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at, grant_id`;
  if (!row) throw new Error(`No hold ${id}`);
  return row;
}

export async function findHoldByKey(tx: Sql, accountId: string, key: string): Promise<HoldRow | undefined> {
  const [row] = await tx.$queryRaw<HoldRow[]>`
    SELECT id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at, grant_id
    FROM token_holds WHERE account_id = ${accountId} AND idempotency_key = ${key}`;
  return row;
}

/**
 * A hold and the balance of its account. The balance is locked before the hold is read, so that no other transaction can
 * resolve it.
 */
export async function lockHold(tx: Sql, id: string): Promise<{ hold: HoldRow; balance: BalanceRow } | undefined> {
  const balance = await lockBalanceOfHold(tx, id);
  const [hold] = await tx.$queryRaw<HoldRow[]>`
    SELECT id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at, grant_id
    FROM token_holds WHERE id = ${id}`;
  return hold && balance && { hold, balance };
}

/** The hold and those that are parts of it. The balance must be locked. */
export async function findWithParts(tx: Sql, id: string): Promise<HoldRow[]> {
  return tx.$queryRaw<HoldRow[]>`
    SELECT id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at, grant_id
    FROM token_holds WHERE id = ${id} OR part_of = ${id} ORDER BY id`;
}

/** The number of tokens of a hold and its parts. */
export async function sumWithParts(tx: Sql, id: string): Promise<number> {
  const [row] = await tx.$queryRaw<{ amount: bigint }[]>`
    SELECT sum(amount)::bigint AS amount FROM token_holds WHERE id = ${id} OR part_of = ${id}`;
  return Number(row?.amount ?? 0);
}

/** Returns undefined when the account does not exist. */
export async function findAccountStatus(tx: Sql, accountId: string): Promise<string | undefined> {
  const [row] = await tx.$queryRaw<{ status: string }[]>`SELECT status FROM accounts WHERE id = ${accountId}`;
  return row?.status;
}

/** Resolves a pending hold. The balance must be locked. A database trigger releases its reservation, and refuses to resolve it twice. */
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

/** Pending holds that have expired. */
export async function findDueHolds(database: AccountDatabase, now: Date, limit: number): Promise<readonly HoldRow[]> {
  return database.sql.$queryRaw`
    SELECT id, account_id, amount, captured_amount, status, description, expires_at, created_at, resolved_at, grant_id
    FROM token_holds WHERE status = 'pending' AND expires_at <= ${now} ORDER BY expires_at LIMIT ${limit}`;
}
