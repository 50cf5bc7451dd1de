import type { EventType } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { type NewEvent, newEvent } from '@attribution/messaging';
import type { EstateRow, Kind } from './kind.ts';
import type { DeletedRow } from './tree.store.ts';

/** When a change happened, and the trace of the request that caused it. */
export interface EventContext {
  readonly now: Date;
  readonly traceparent: string | null;
}

type EventData = NonNullable<Parameters<EventType['data']['parse']>[0]>;

/** The data of an event about a row that exists. */
export const stateOf = <Row extends EstateRow>(kind: Kind<Row>, row: Row) => ({
  account_id: row.account_id,
  aggregate_version: row.aggregate_version,
  [kind.name]: kind.view(row),
});

/** The event of a new or changed row. */
export function changeEvent<Row extends EstateRow>(
  kind: Kind<Row>,
  change: 'created' | 'updated',
  row: Row,
  context: EventContext,
): NewEvent {
  return estateEvent(kind.events[change], stateOf(kind, row), row.account_id, context);
}

/** The event of a deleted row. Its version is one above the last version of the row. */
export function deletionEvent(kind: Pick<Kind, 'name' | 'events'>, row: DeletedRow, context: EventContext): NewEvent {
  const data = {
    account_id: row.account_id,
    aggregate_version: row.aggregate_version + 1,
    [`${kind.name}_id`]: row.id,
  };
  return estateEvent(kind.events.deleted, data, row.account_id, context);
}

const estateEvent = (type: EventType, data: EventData, accountId: string, { now, traceparent }: EventContext) =>
  newEvent(type, data as never, { accountId, occurredAt: now, traceparent });

/** The fields that every new row has in common. */
export const firstFields = (kind: Pick<Kind, 'name'>, accountId: string, now: Date) => ({
  id: newId(kind.name),
  account_id: accountId,
  aggregate_version: 1,
  created_at: now,
  updated_at: now,
});
