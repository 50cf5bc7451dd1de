import { groupCreated, groupDeleted, groupUpdated } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { projection } from '@attribution/messaging';
import type { KnownGroup } from '../generated/prisma/client.ts';

export const knownGroups = projection({
  table: 'known_groups',
  states: [groupCreated, groupUpdated],
  gone: groupDeleted,
  row: ({ account_id, group }): Omit<KnownGroup, 'aggregate_version'> => ({ id: group.id, account_id }),
  goneId: ({ group_id }) => group_id,
});

/** Whether Organization has told of the group, in this account. */
export async function isKnownGroup(tx: Sql, accountId: string, id: string): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM known_groups WHERE id = ${id} AND account_id = ${accountId}`;
  return found.length === 1;
}
