import { groupCreated, groupDeleted } from '@attribution/contracts';
import { on } from '@attribution/messaging';
import type { Tx } from '../store.ts';
import { deleteKnownGroup, insertKnownGroup } from './known-group.store.ts';

export const onGroupCreated = on(groupCreated, (tx: Tx, { data }) =>
  insertKnownGroup(tx, data.account_id, data.group.id),
);

export const onGroupDeleted = on(groupDeleted, (tx: Tx, { data }) => deleteKnownGroup(tx, data.group_id));
