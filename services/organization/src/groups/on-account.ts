import { accountCreated, accountPurged, groupCreated, groupDeleted, newId } from '@attribution/contracts';
import { newEvent, type Outbox, on } from '@attribution/messaging';
import type { Tx } from '../store.ts';
import { deleteGroupsOfAccount, insertGroup } from './group.store.ts';
import { viewGroup } from './group.view.ts';

/** Every account starts with a group, so that its first location has a place. */
const firstGroup = { name: 'Main', description: null };

export const onAccountCreated = (outbox: Outbox) =>
  on(accountCreated, async (tx: Tx, { data, occurredAt, traceparent }) => {
    const accountId = data.account_id;
    const row = { id: newId('group'), ...firstGroup, created_at: occurredAt, updated_at: occurredAt };
    await insertGroup(tx, accountId, row);
    const group = viewGroup(row);
    await outbox.append(
      tx,
      newEvent(groupCreated, { account_id: accountId, group }, { accountId, occurredAt, traceparent }),
    );
  });

export const onAccountPurged = (outbox: Outbox) =>
  on(accountPurged, async (tx: Tx, { data, occurredAt, traceparent }) => {
    const accountId = data.account_id;
    const gone = await deleteGroupsOfAccount(tx, accountId);
    const context = { accountId, occurredAt, traceparent };
    await outbox.append(
      tx,
      ...gone.map((id) => newEvent(groupDeleted, { account_id: accountId, group_id: id }, context)),
    );
  });
