import type { Sql } from '@attribution/database';
import type { Tx } from '../store.ts';

/** Returns the ids that belong to groups of this account, as known from Organization's events. */
export async function findKnownGroups(tx: Pick<Tx, 'knownGroup'>, accountId: string, ids: readonly string[]) {
  const rows = await tx.knownGroup.findMany({
    where: { account_id: accountId, id: { in: [...ids] } },
    select: { id: true },
  });
  return new Set(rows.map(({ id }) => id));
}

/** A holder that lost grants, and the deleted groups that the grants were for. */
export interface Loss {
  readonly holder: 'user' | 'api_key' | 'invitation';
  readonly id: string;
  readonly account_id: string;
  readonly group_ids: readonly string[];
}

interface DeletedGroup {
  readonly id: string;
  readonly accountId: string;
}

/**
 * Deletes all grants for deleted groups, including those of invitations. Grants are only given or changed under the
 * lock of the account's row, so no concurrent transaction can write them again afterwards.
 */
export async function takeGrants(tx: Sql, groups: readonly DeletedGroup[]): Promise<Loss[]> {
  const ids = groups.map(({ id }) => id);
  const accountIds = groups.map(({ accountId }) => accountId);
  await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ANY(${accountIds}::text[]) ORDER BY id FOR NO KEY UPDATE`;
  return [
    ...(await takeFromUsers(tx, ids)),
    ...(await takeFromKeys(tx, ids)),
    ...(await takeFromInvitations(tx, accountIds, ids)),
  ];
}

const takeFromUsers = (tx: Sql, ids: readonly string[]) => tx.$queryRaw<Loss[]>`
  WITH gone AS (DELETE FROM group_grants WHERE group_id = ANY(${ids}::text[]) RETURNING *)
  SELECT 'user' AS holder, user_id AS id, account_id, array_agg(group_id ORDER BY group_id) AS group_ids
  FROM gone GROUP BY account_id, user_id ORDER BY account_id, user_id`;

const takeFromKeys = (tx: Sql, ids: readonly string[]) => tx.$queryRaw<Loss[]>`
  WITH gone AS (DELETE FROM api_key_grants WHERE group_id = ANY(${ids}::text[]) RETURNING *)
  SELECT 'api_key' AS holder, k.id, k.account_id, array_agg(gone.group_id ORDER BY gone.group_id) AS group_ids
  FROM gone JOIN api_keys AS k ON k.id = gone.api_key_id GROUP BY k.id ORDER BY k.account_id, k.id`;

/** Accepted invitations are ignored: their grants belong to the member now. */
const takeFromInvitations = (tx: Sql, accountIds: readonly string[], ids: readonly string[]) => tx.$queryRaw<Loss[]>`
  WITH changed AS (
    UPDATE invitations SET groups = (
      SELECT coalesce(jsonb_agg(g ORDER BY at), '[]') FROM jsonb_array_elements(groups) WITH ORDINALITY AS e (g, at)
      WHERE g ->> 'group_id' <> ALL(${ids}::text[]))
    WHERE account_id = ANY(${accountIds}::text[])
      AND EXISTS (SELECT FROM jsonb_array_elements(groups) AS g WHERE g ->> 'group_id' = ANY(${ids}::text[]))
    RETURNING id, account_id, accepted_at, old.groups)
  SELECT 'invitation' AS holder, id, account_id, ARRAY(
    SELECT g ->> 'group_id' FROM jsonb_array_elements(groups) AS g WHERE g ->> 'group_id' = ANY(${ids}::text[])
    ORDER BY 1) AS group_ids
  FROM changed WHERE accepted_at IS NULL ORDER BY account_id, id`;
