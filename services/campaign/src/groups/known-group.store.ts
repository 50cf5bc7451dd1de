import { groupCreated, groupDeleted, groupUpdated } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { projection } from '@attribution/messaging';
import type { Selectable } from 'kysely';
import type { KnownGroup } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

export const knownGroups = projection({
  table: 'known_groups',
  states: [groupCreated, groupUpdated],
  gone: groupDeleted,
  row: ({ account_id, group }): Omit<Selectable<KnownGroup>, 'aggregate_version'> => ({ id: group.id, account_id }),
  goneId: ({ group_id }) => group_id,
});

/** Whether Organization has told of the group, in this account. */
export async function isKnownGroup(tx: Sql, accountId: string, id: string): Promise<boolean> {
  const group = db(tx).selectFrom('known_groups').select('id').where('id', '=', id).where('account_id', '=', accountId);
  return (await group.executeTakeFirst()) !== undefined;
}
