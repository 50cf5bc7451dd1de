import type { Sql } from '@attribution/database';
import type { Tx } from '../store.ts';

export async function insertPurge(tx: Tx, accountId: string, requestedAt: Date): Promise<void> {
  await tx.estatePurge.createMany({
    data: [{ account_id: accountId, requested_at: requestedAt }],
    skipDuplicates: true,
  });
}

/** The account whose purge was requested first. */
export async function findOldestPurge(db: Sql): Promise<string | undefined> {
  const [found] = await db.$queryRaw<{ account_id: string }[]>`
    SELECT account_id FROM estate_purges ORDER BY requested_at, account_id LIMIT 1`;
  return found?.account_id;
}

/** The accounts whose estates are not deleted yet. */
export async function findPurges(db: Sql): Promise<string[]> {
  const found = await db.$queryRaw<{ account_id: string }[]>`SELECT account_id FROM estate_purges ORDER BY account_id`;
  return found.map(({ account_id }) => account_id);
}

export async function deletePurge(tx: Sql, accountId: string): Promise<void> {
  await tx.$executeRaw`DELETE FROM estate_purges WHERE account_id = ${accountId}`;
}
