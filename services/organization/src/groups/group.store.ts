import type { Sql } from '@attribution/database';

/** Those of the groups that the account has. */
export async function findGroupsById(
  db: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return db.$queryRaw`SELECT id, name FROM groups WHERE account_id = ${accountId} AND id = ANY(${ids}) ORDER BY id`;
}
