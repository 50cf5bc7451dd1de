import { accountCreated } from '@attribution/contracts';
import { type Outbox, onBatch } from '@attribution/messaging';
import { firstFields, insertRows, tellState } from '../estate/index.ts';
import { groupKind } from './group.ts';

/** Every account starts with a group, so that its first location has a place. */
const firstGroup = { name: 'Main', external_id: null, description: null };

export const onAccountCreated = (outbox: Outbox) =>
  onBatch(accountCreated, async (tx, accounts) => {
    const groups = accounts.map(({ data, occurredAt, traceparent }) => ({
      row: { ...firstFields(groupKind, data.account_id, occurredAt), ...firstGroup },
      occasion: { now: occurredAt, traceparent },
    }));
    await insertRows(
      tx,
      groupKind,
      groups.map(({ row }) => row),
    );
    await outbox.append(tx, ...groups.map(({ row, occasion }) => tellState(groupKind, 'created', row, occasion)));
  });
