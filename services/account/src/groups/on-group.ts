import { groupCreated, groupDeleted, groupUpdated } from '@attribution/contracts';
import { on } from '@attribution/messaging';
import type { Tx } from '../store.ts';
import { deleteKnownGroup, insertKnownGroup } from './known-group.store.ts';

export const onGroupCreated = on(groupCreated, (tx: Tx, { data: { account_id, group } }) =>
  insertKnownGroup(tx, account_id, group.id, group.name),
);

export const onGroupUpdated = on(groupUpdated, (tx: Tx, { data: { account_id, group } }) =>
  insertKnownGroup(tx, account_id, group.id, group.name),
);

export const onGroupDeleted = on(groupDeleted, (tx: Tx, { data: { account_id, group_id } }) =>
  deleteKnownGroup(tx, account_id, group_id),
);
