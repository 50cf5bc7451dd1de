import type { SqlTransaction } from '@attribution/database';

/**
 * The lock of an account's blacklist, until the end of the transaction: whoever changes it holds it alone, and those who
 * count visits share it. A change then sees, and marks, each visit that has been counted, and whoever counts later sees
 * the change. A visit that is received meanwhile waits for nobody: its own mark makes it counted after the change.
 */
const key = 'hashtextextended($1, 3)';
const nameOf = (accountId: string) => `blacklist ${accountId}`;

/** To change the blacklist. Waits for those who count. */
export async function lockBlacklist(tx: SqlTransaction, accountId: string): Promise<void> {
  await tx.$executeRawUnsafe(`SELECT pg_advisory_xact_lock(${key})`, nameOf(accountId));
}

/** To count visits. False, at once, while the blacklist is being changed. */
export async function shareBlacklist(tx: SqlTransaction, accountId: string): Promise<boolean> {
  const sql = `SELECT pg_try_advisory_xact_lock_shared(${key}) AS held`;
  const [row] = await tx.$queryRawUnsafe<{ held: boolean }[]>(sql, nameOf(accountId));
  return row?.held === true;
}
