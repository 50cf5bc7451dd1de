import { accountCreated } from '@attribution/contracts';
import { type Outbox, onBatch } from '@attribution/messaging';
import { changeEvent, firstFields, insertRows } from '../estate/index.ts';
import { groupKind } from './group.ts';

/** Every account starts with a group, because a location must be in one. */
const firstGroup = { name: 'Main', external_id: null, description: null };

export const onAccountCreated = (outbox: Outbox) =>
  onBatch(accountCreated, async (tx, accounts) => {
    const groups = accounts.map(({ data, occurredAt, traceparent }) => ({
      row: { ...firstFields(groupKind, data.account_id, occurredAt), ...firstGroup },
      context: { now: occurredAt, traceparent },
    }));
    await insertRows(
      tx,
      groupKind,
      groups.map(({ row }) => row),
    );
    await outbox.append(tx, ...groups.map(({ row, context }) => changeEvent(groupKind, 'created', row, context)));
  });
