import { anyOf, type Sql } from '@attribution/database';
import type { Forgettable } from '@attribution/service';
import type { Selectable } from 'kysely';
import type { ProviderEvent as EventRow, Reconciliation } from '../generated/kysely/types.ts';
import type { ProviderEvent, ProviderObject } from '../provider/index.ts';
import { db } from '../store.ts';

/** A notification to apply. `traceparent` is null when the notification was found in the provider's list. */
export type DueEvent = Readonly<Pick<Selectable<EventRow>, 'id' | 'object_id' | 'attempts' | 'traceparent'>> & {
  readonly object_kind: ProviderObject;
};

/** Inserts a notification, once per id. */
export async function insertEvent(
  tx: Sql,
  event: ProviderEvent,
  now: Date,
  traceparent: string | null = null,
): Promise<boolean> {
  const { id, type, object, created_at } = event;
  const due_at = object.kind === 'other' ? null : now;
  const row = { id, type, object_kind: object.kind, object_id: object.id, created_at, received_at: now };
  const { numInsertedOrUpdatedRows } = await db(tx)
    .insertInto('provider_events')
    .values({ ...row, due_at, traceparent })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function findDue(tx: Sql, now: Date, limit: number): Promise<readonly DueEvent[]> {
  return db(tx)
    .selectFrom('provider_events')
    .select(['id', 'object_kind', 'object_id', 'attempts', 'traceparent'])
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('received_at')
    .limit(limit)
    .$narrowType<{ object_kind: ProviderObject }>()
    .execute();
}

const eventsOf = (tx: Sql, ids: readonly string[]) =>
  db(tx).updateTable('provider_events').where('id', '=', anyOf(ids));

export async function markDone(tx: Sql, ids: readonly string[]): Promise<void> {
  await eventsOf(tx, ids).set({ due_at: null, error: null }).execute();
}

export async function postpone(
  tx: Sql,
  ids: readonly string[],
  failure: { readonly error: string; readonly dueAt: Date },
): Promise<void> {
  await eventsOf(tx, ids)
    .set((event) => ({ due_at: failure.dueAt, attempts: event('attempts', '+', 1), error: failure.error }))
    .execute();
}

/** How far the provider's list of notifications has been read. */
export type Reading = Readonly<Pick<Selectable<Reconciliation>, 'read_until' | 'began_at' | 'cursor'>>;

export async function findReading(tx: Sql): Promise<Reading | undefined> {
  return db(tx).selectFrom('reconciliations').select(['read_until', 'began_at', 'cursor']).executeTakeFirst();
}

export async function setReading(tx: Sql, reading: Partial<Reading>): Promise<void> {
  await db(tx)
    .insertInto('reconciliations')
    .values({ id: 1, ...reading })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(reading))
    .execute();
}

/** Notifications that have been applied. */
export const handledEvents = {
  table: 'provider_events',
  condition: 'received_at < $1 AND due_at IS NULL',
} satisfies Forgettable;
