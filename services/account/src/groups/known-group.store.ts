import type { Tx } from '../store.ts';

/** Those of the groups that Organization has told of, in this account. */
export async function findKnownGroups(tx: Pick<Tx, 'knownGroup'>, accountId: string, ids: readonly string[]) {
  const rows = await tx.knownGroup.findMany({
    where: { account_id: accountId, id: { in: [...ids] } },
    select: { id: true },
  });
  return new Set(rows.map(({ id }) => id));
}

export async function insertKnownGroup(tx: Tx, accountId: string, id: string, name: string): Promise<void> {
  await tx.knownGroup.upsert({ where: { id }, create: { id, account_id: accountId, name }, update: { name } });
}

/** The group is gone, and with it every grant in it, those of invitations among them. */
export async function deleteKnownGroup(tx: Tx, accountId: string, id: string): Promise<void> {
  await tx.knownGroup.deleteMany({ where: { id } });
  await tx.groupGrant.deleteMany({ where: { group_id: id } });
  await tx.apiKeyGrant.deleteMany({ where: { group_id: id } });
  await tx.$executeRaw`
    UPDATE invitations SET groups = (
      SELECT coalesce(jsonb_agg(g ORDER BY at), '[]') FROM jsonb_array_elements(groups) WITH ORDINALITY AS e (g, at)
      WHERE g ->> 'group_id' <> ${id})
    WHERE account_id = ${accountId} AND groups @> jsonb_build_array(jsonb_build_object('group_id', ${id}::text))`;
}
