import type { Sql } from '@attribution/database';

/** Whether Organization has told of the group, in this account. */
export async function isKnownGroup(tx: Sql, accountId: string, id: string): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM known_groups WHERE id = ${id} AND account_id = ${accountId}`;
  return found.length === 1;
}
