import { type EventData, type EventType, newUuid } from '@attribution/contracts';
import { afterCommit, type Sql, type SqlTransaction } from '@attribution/database';
import type { Message } from './transport.ts';

/** What an event is about, besides its data. */
export interface EventContext {
  readonly accountId: string;
  readonly occurredAt: Date;
  readonly traceparent?: string | null;
}

/** An event that is about to be appended; made by `newEvent`, so that its data fit its type. */
export interface NewEvent {
  readonly message: Message;
}

export function newEvent<T extends EventType>(type: T, data: EventData<T>, context: EventContext): NewEvent {
  const checked = type.data.parse(data);
  return {
    message: {
      topic: type.topic.name,
      envelope: {
        event_id: newUuid(),
        type: type.type,
        version: type.version,
        account_id: context.accountId,
        key: type.key(checked as never),
        occurred_at: context.occurredAt.toISOString(),
        traceparent: context.traceparent ?? null,
        data: checked,
      },
    },
  };
}

const columns = 'event_id, topic, type, version, account_id, key, occurred_at, traceparent, data';

/**
 * The lock of each (topic, key) is taken before the sequence is drawn and lasts until the commit: within a key, the
 * order of sequences is the order of commits. Keys are locked in one order, so that two appends cannot deadlock.
 */
const append = `
  WITH input AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS row(
      ordinal int, event_id uuid, topic text, type text, version int, account_id text, key text,
      occurred_at timestamptz, traceparent text, data jsonb)
  ), locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(hashtextextended(topic || ' ' || key, 0))
    FROM (SELECT DISTINCT topic, key FROM input ORDER BY topic, key) AS keys
  )
  INSERT INTO outbox (${columns})
  SELECT ${columns} FROM input, (SELECT count(*) FROM locked) AS all_locked ORDER BY ordinal`;

/** The same of one event, where `effect` has a row; its columns are the parameters from `first` on. */
function appendOne(first: number): string {
  const [eventId, topic, type, version, accountId, key, ...rest] = Array.from({ length: 9 }, (_, n) => `$${first + n}`);
  const [occurredAt, traceparent, data] = rest;
  return `
    locked AS MATERIALIZED (
      SELECT pg_advisory_xact_lock(hashtextextended(${topic} || ' ' || ${key}, 0)) WHERE EXISTS (SELECT FROM effect)
    ), appended AS (
      INSERT INTO outbox (${columns})
      SELECT ${eventId}::uuid, ${topic}, ${type}, ${version}::int, ${accountId}, ${key}, ${occurredAt}::timestamptz,
        ${traceparent}, ${data}::jsonb
      FROM locked
    )`;
}

/** A change, as common table expressions that end with `effect AS (… RETURNING …)`. */
export interface Effect {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface Outbox {
  /** Appends events in the transaction of what they tell of. Once a transaction, so that keys are locked in order. */
  append(tx: SqlTransaction, ...events: readonly NewEvent[]): Promise<void>;
  /**
   * Makes a change and appends its event by one statement, which is its own transaction: for what is called very often.
   * The rows of the change; where it has none, nothing is appended.
   */
  appendWith<T>(sql: Sql, effect: Effect, event: NewEvent): Promise<readonly T[]>;
}

/** `wake` is called after a commit that appended something. */
export function createOutbox(wake: () => void): Outbox {
  return {
    async append(tx, ...events) {
      if (events.length === 0) return;
      const rows = events.map(({ message }, ordinal) => ({ ordinal, topic: message.topic, ...message.envelope }));
      await tx.$executeRawUnsafe(append, JSON.stringify(rows));
      afterCommit(tx, wake);
    },
    async appendWith<T>(sql: Sql, { text, values }: Effect, { message: { topic, envelope } }: NewEvent) {
      const { event_id, type, version, account_id, key, occurred_at, traceparent, data } = envelope;
      const rows = await sql.$queryRawUnsafe<T[]>(
        `WITH ${text}, ${appendOne(values.length + 1)} SELECT * FROM effect`,
        ...[...values, event_id, topic, type, version, account_id, key, occurred_at, traceparent, JSON.stringify(data)],
      );
      if (rows.length > 0) wake();
      return rows;
    },
  };
}
