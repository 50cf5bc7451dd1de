import type { EventType } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { type NewEvent, newEvent } from '@attribution/messaging';
import type { EstateRow, Kind } from './kind.ts';
import type { Gone } from './tree.store.ts';

/** When and why something changed. */
export interface Occasion {
  readonly now: Date;
  readonly traceparent: string | null;
}

type Told = NonNullable<Parameters<EventType['data']['parse']>[0]>;

/** What an event says of a row that is. */
export const stateOf = <Row extends EstateRow>(kind: Kind<Row>, row: Row) => ({
  account_id: row.account_id,
  aggregate_version: row.aggregate_version,
  [kind.name]: kind.view(row),
});

/** The event of a new or changed row. */
export function tellState<Row extends EstateRow>(
  kind: Kind<Row>,
  deed: 'created' | 'updated',
  row: Row,
  occasion: Occasion,
): NewEvent {
  return tell(kind.events[deed], stateOf(kind, row), row.account_id, occasion);
}

/** The event of a row that is gone: its last version. */
export function tellGone(kind: Pick<Kind, 'name' | 'events'>, row: Gone, occasion: Occasion): NewEvent {
  const data = {
    account_id: row.account_id,
    aggregate_version: row.aggregate_version + 1,
    [`${kind.name}_id`]: row.id,
  };
  return tell(kind.events.deleted, data, row.account_id, occasion);
}

const tell = (type: EventType, data: Told, accountId: string, { now, traceparent }: Occasion) =>
  newEvent(type, data as never, { accountId, occurredAt: now, traceparent });

/** What every new row of a kind starts with. */
export const firstFields = (kind: Pick<Kind, 'name'>, accountId: string, now: Date) => ({
  id: newId(kind.name),
  account_id: accountId,
  aggregate_version: 1,
  created_at: now,
  updated_at: now,
});
