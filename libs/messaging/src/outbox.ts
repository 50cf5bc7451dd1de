import type { EventData, EventType } from '@attribution/contracts';
import { afterCommit, type Sql, type SqlTransaction } from '@attribution/database';
import { newUuid } from '@attribution/ids';
import { traceHeaders } from '@attribution/tracing';
import type { Message } from './transport.ts';

/** What an event is about, besides its data. */
export interface EventContext {
  readonly accountId: string;
  readonly occurredAt: Date;
  /** Default: of the work that tells it. */
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
        traceparent: context.traceparent ?? traceHeaders().traceparent ?? null,
        data: checked,
      },
    },
  };
}

const columns = 'event_id, topic, type, version, account_id, key, occurred_at, traceparent, data';

/**
 * Common table expressions that append the events in the parameter. The lock of each (topic, key) is taken before the
 * sequence is drawn and lasts until the commit: within a key, the order of sequences is the order of commits. Keys are
 * locked in one order, so that two appends cannot deadlock.
 */
const appending = (parameter: string, condition: string) => `
  input AS (
    SELECT * FROM json_to_recordset(${parameter}::json) AS row(
      ordinal int, tells_of text, event_id uuid, topic text, type text, version int, account_id text, key text,
      occurred_at timestamptz, traceparent text, data jsonb)
    WHERE ${condition}
  ), locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(hashtextextended(topic || ' ' || key, 0))
    FROM (SELECT DISTINCT topic, key FROM input ORDER BY topic, key) AS keys
  ), appended AS (
    INSERT INTO outbox (${columns})
    SELECT ${columns} FROM input, (SELECT count(*) FROM locked) AS all_locked ORDER BY ordinal
  )`;

const append = `WITH ${appending('$1', 'true')} SELECT`;

/** Changes, as common table expressions that end with `effect AS (… RETURNING id, …)`. */
export interface Effect {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** An event, and the id of the row that it tells of. */
export interface EventOf {
  readonly id: string;
  readonly event: NewEvent;
}

export interface Outbox {
  /** Appends events in the transaction of what they tell of. Once a transaction, so that keys are locked in order. */
  append(tx: SqlTransaction, ...events: readonly NewEvent[]): Promise<void>;
  /**
   * Makes changes and appends their events by one statement, which is its own transaction: for what is called very
   * often. The rows of the changes; the event of one that has no row is not appended.
   */
  appendWith<T>(sql: Sql, effect: Effect, events: readonly EventOf[]): Promise<readonly T[]>;
}

/** `wake` is called after a commit that appended something. */
export function createOutbox(wake: () => void): Outbox {
  return {
    async append(tx, ...events) {
      if (events.length === 0) return;
      await tx.$executeRawUnsafe(append, JSON.stringify(events.map(({ message }, at) => rowOf(message, at))));
      afterCommit(tx, wake);
    },
    async appendWith<T>(sql: Sql, { text, values }: Effect, events: readonly EventOf[]) {
      const told = appending(`$${values.length + 1}`, 'tells_of IN (SELECT id FROM effect)');
      const input = events.map(({ id, event }, at) => ({ ...rowOf(event.message, at), tells_of: id }));
      const statement = `WITH ${text}, ${told} SELECT * FROM effect`;
      const rows = await sql.$queryRawUnsafe<T[]>(statement, ...values, JSON.stringify(input));
      if (rows.length > 0) wake();
      return rows;
    },
  };
}

const rowOf = ({ topic, envelope }: Message, ordinal: number) => ({ ordinal, topic, ...envelope });
