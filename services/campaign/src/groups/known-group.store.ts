import type { Sql } from '@attribution/database';

interface KnownGroup {
  readonly id: string;
  readonly accountId: string;
}

/** Whether Organization has told of the group, in this account. */
export async function isKnownGroup(tx: Sql, accountId: string, id: string): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM known_groups WHERE id = ${id} AND account_id = ${accountId}`;
  return found.length === 1;
}

/** One statement of two parameters for however many groups: Prisma would make parameters of every field of each. */
export async function insertKnownGroups(tx: Sql, groups: readonly KnownGroup[]): Promise<void> {
  const ids = groups.map(({ id }) => id);
  const accountIds = groups.map(({ accountId }) => accountId);
  await tx.$executeRaw`
    INSERT INTO known_groups (id, account_id) SELECT * FROM unnest(${ids}::text[], ${accountIds}::text[])
    ON CONFLICT DO NOTHING`;
}

export async function deleteKnownGroups(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.$executeRaw`DELETE FROM known_groups WHERE id = ANY(${ids}::text[])`;
}
