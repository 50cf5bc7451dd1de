import { accountCreated } from '@attribution/contracts';
import { type Outbox, on } from '@attribution/messaging';
import { firstFields, insertRows, tellState } from '../estate/index.ts';
import type { Tx } from '../store.ts';
import { groupKind } from './group.ts';

/** Every account starts with a group, so that its first location has a place. */
const firstGroup = { name: 'Main', external_id: null, description: null };

export const onAccountCreated = (outbox: Outbox) =>
  on(accountCreated, async (tx: Tx, { data, occurredAt, traceparent }) => {
    const group = { ...firstFields(groupKind, data.account_id, occurredAt), ...firstGroup };
    await insertRows(tx, groupKind, [group]);
    await outbox.append(tx, tellState(groupKind, 'created', group, { now: occurredAt, traceparent }));
  });
