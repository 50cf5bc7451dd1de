import type { Sql } from '@attribution/database';

/**
 * Whether what has that key takes effect now: false where it did before, or where the account is gone. Whoever asks for
 * one that another transaction is about to settle waits for it.
 */
export async function settle(tx: Sql, accountId: string, key: string, now: Date): Promise<boolean> {
  const rows = await tx.$executeRaw`
    INSERT INTO settlements (account_id, key, settled_at)
    SELECT account_id, ${key}, ${now} FROM balances WHERE account_id = ${accountId}
    ON CONFLICT DO NOTHING`;
  return rows === 1;
}
