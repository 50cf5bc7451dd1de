import type { Sql } from '@attribution/database';
import type { Forgettable } from '@attribution/service';
import type { ProviderEvent, ProviderObject } from '../provider/index.ts';

/** A notification that is to be acted on. */
export interface DueEvent {
  readonly id: string;
  readonly object_kind: ProviderObject;
  readonly object_id: string;
  readonly attempts: number;
  /** Of the request that brought it; null where it was found in the provider's list. */
  readonly traceparent: string | null;
}

/** Writes a notification down, once for its id. */
export async function insertEvent(
  sql: Sql,
  event: ProviderEvent,
  now: Date,
  traceparent: string | null = null,
): Promise<boolean> {
  const { kind, id } = event.object;
  const due = kind === 'other' ? null : now;
  const inserted = await sql.$executeRaw`
    INSERT INTO provider_events (id, type, object_kind, object_id, created_at, received_at, due_at, traceparent)
    VALUES (${event.id}, ${event.type}, ${kind}, ${id}, ${event.created_at}, ${now}, ${due}, ${traceparent})
    ON CONFLICT DO NOTHING`;
  return inserted > 0;
}

export async function findDue(sql: Sql, now: Date, limit: number): Promise<readonly DueEvent[]> {
  return sql.$queryRaw<DueEvent[]>`
    SELECT id, object_kind, object_id, attempts, traceparent FROM provider_events WHERE due_at <= ${now}
    ORDER BY due_at, received_at LIMIT ${limit}`;
}

export async function markDone(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.$executeRaw`UPDATE provider_events SET due_at = NULL, error = NULL WHERE id = ANY(${ids})`;
}

export async function postpone(
  sql: Sql,
  ids: readonly string[],
  failure: { readonly error: string; readonly dueAt: Date },
): Promise<void> {
  await sql.$executeRaw`
    UPDATE provider_events SET due_at = ${failure.dueAt}, attempts = attempts + 1, error = ${failure.error}
    WHERE id = ANY(${ids})`;
}

/** Until when the provider's own list has been read. */
export async function findReadUntil(sql: Sql): Promise<Date | undefined> {
  return (await sql.$queryRaw<{ read_until: Date }[]>`SELECT read_until FROM reconciliations`)[0]?.read_until;
}

export async function setReadUntil(sql: Sql, until: Date): Promise<void> {
  await sql.$executeRaw`
    INSERT INTO reconciliations (id, read_until) VALUES (1, ${until})
    ON CONFLICT (id) DO UPDATE SET read_until = excluded.read_until`;
}

/** Those that nobody waits for. */
export const handledEvents = {
  table: 'provider_events',
  condition: 'received_at < $1 AND due_at IS NULL',
} satisfies Forgettable;
