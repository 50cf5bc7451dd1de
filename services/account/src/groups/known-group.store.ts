import type { Sql } from '@attribution/database';
import type { Tx } from '../store.ts';

interface KnownGroup {
  readonly id: string;
  readonly accountId: string;
}

/** Those of the groups that Organization has told of, in this account. */
export async function findKnownGroups(tx: Pick<Tx, 'knownGroup'>, accountId: string, ids: readonly string[]) {
  const rows = await tx.knownGroup.findMany({
    where: { account_id: accountId, id: { in: [...ids] } },
    select: { id: true },
  });
  return new Set(rows.map(({ id }) => id));
}

export async function insertKnownGroups(tx: Sql, groups: readonly KnownGroup[]): Promise<void> {
  const ids = groups.map(({ id }) => id);
  const accountIds = groups.map(({ accountId }) => accountId);
  await tx.$executeRaw`
    INSERT INTO known_groups (id, account_id) SELECT * FROM unnest(${ids}::text[], ${accountIds}::text[])
    ON CONFLICT DO NOTHING`;
}

/** The groups are gone, and with them every grant in them, those of invitations among them. */
export async function deleteKnownGroups(tx: Sql, groups: readonly KnownGroup[]): Promise<void> {
  const ids = groups.map(({ id }) => id);
  const accountIds = groups.map(({ accountId }) => accountId);
  await tx.$executeRaw`DELETE FROM known_groups WHERE id = ANY(${ids}::text[])`;
  await tx.$executeRaw`DELETE FROM group_grants WHERE group_id = ANY(${ids}::text[])`;
  await tx.$executeRaw`DELETE FROM api_key_grants WHERE group_id = ANY(${ids}::text[])`;
  await tx.$executeRaw`
    UPDATE invitations SET groups = (
      SELECT coalesce(jsonb_agg(g ORDER BY at), '[]') FROM jsonb_array_elements(groups) WITH ORDINALITY AS e (g, at)
      WHERE g ->> 'group_id' <> ALL(${ids}::text[]))
    WHERE account_id = ANY(${accountIds}::text[])
      AND EXISTS (SELECT FROM jsonb_array_elements(groups) AS g WHERE g ->> 'group_id' = ANY(${ids}::text[]))`;
}
