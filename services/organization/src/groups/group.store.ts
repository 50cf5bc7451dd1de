import type { Sql } from '@attribution/database';

/** The groups of the account among the given ids. */
export async function findGroupsById(
  db: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return db.$queryRaw`SELECT id, name FROM groups WHERE account_id = ${accountId} AND id = ANY(${ids}) ORDER BY id`;
}
