import { groupCreated, groupDeleted } from '@attribution/contracts';
import { onBatch } from '@attribution/messaging';
import { deleteKnownGroups, insertKnownGroups } from './known-group.store.ts';

export const onGroupCreated = onBatch(groupCreated, (tx, events) =>
  insertKnownGroups(
    tx,
    events.map(({ data }) => ({ id: data.group.id, accountId: data.account_id })),
  ),
);

export const onGroupDeleted = onBatch(groupDeleted, (tx, events) =>
  deleteKnownGroups(
    tx,
    events.map(({ data }) => ({ id: data.group_id, accountId: data.account_id })),
  ),
);
