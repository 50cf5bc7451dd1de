import type { Sql } from '@attribution/database';

/** Whether the settlement with this key has taken effect. */
export async function isSettled(tx: Sql, accountId: string, key: string): Promise<boolean> {
  const rows = await tx.$queryRaw<
    unknown[]
  >`SELECT 1 FROM settlements WHERE account_id = ${accountId} AND key = ${key}`;
  return rows.length > 0;
}

/**
 * Returns whether the settlement with this key takes effect now: false when it did before, or when the account no
 * longer exists. Locks the balance first, as everything does that moves tokens.
 */
export async function settle(tx: Sql, accountId: string, key: string, now: Date): Promise<boolean> {
  const rows = await tx.$executeRaw`
    INSERT INTO settlements (account_id, key, settled_at)
    SELECT account_id, ${key}, ${now} FROM balances WHERE account_id = ${accountId} FOR NO KEY UPDATE
    ON CONFLICT DO NOTHING`;
  return rows === 1;
}
