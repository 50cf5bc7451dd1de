import type { Envelope, EventData, EventType } from '@attribution/contracts';
import { afterCommit, type Sql, type SqlTransaction } from '@attribution/database';
import { newUuid } from '@attribution/ids';
import { traceHeaders } from '@attribution/tracing';
import type { Message } from './transport.ts';

/** What an event is about, besides its data. */
export interface EventContext {
  readonly accountId: string;
  readonly occurredAt: Date;
  /** Default: that of the current work. */
  readonly traceparent?: string | null;
}

/** An event that is about to be appended; made by `newEvent`, so that its data fit its type, or by a `completion`. */
export interface NewEvent {
  readonly message: Message;
}

export function newEvent<T extends EventType>(type: T, data: EventData<T>, context: EventContext): NewEvent {
  return messageOf(type, type.data.parse(data), context);
}

/** The message of an event, with a new id. */
export const messageOf = (type: EventType, data: Envelope['data'], context: EventContext): NewEvent => ({
  message: {
    topic: type.topic.name,
    envelope: {
      event_id: newUuid(),
      type: type.type,
      version: type.version,
      account_id: context.accountId,
      key: type.key(data as never),
      occurred_at: context.occurredAt.toISOString(),
      traceparent: context.traceparent ?? traceHeaders().traceparent ?? null,
      data,
    },
  },
});

const columns = 'event_id, topic, type, version, account_id, key, occurred_at, traceparent, data';

/**
 * Common table expressions that append the events in the parameter. The lock of each (topic, key) is taken before the
 * sequence is drawn and lasts until the commit: within a key, the order of sequences is the order of commits. Keys are
 * locked in one order, so that two appends cannot deadlock.
 */
const appending = (parameter: string, condition: string) => `
  input AS (
    SELECT * FROM json_to_recordset(${parameter}::json) AS row(
      ordinal int, row_id text, event_id uuid, topic text, type text, version int, account_id text, key text,
      occurred_at timestamptz, traceparent text, data jsonb)
    WHERE ${condition}
  ), locked AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(hashtextextended(topic || ' ' || key, 0))
    FROM (SELECT DISTINCT topic, key FROM input ORDER BY topic, key) AS keys
  ), appended AS (
    INSERT INTO outbox (${columns})
    SELECT ${columns} FROM input, (SELECT count(*) FROM locked) AS all_locked ORDER BY ordinal
  )`;

const insertEvents = `WITH ${appending('$1', 'true')} SELECT`;

/** Changes of rows, as common table expressions that end with `changed AS (… RETURNING id, …)`. */
export interface ChangeStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** An event, and the id of the row that it is about. */
export interface RowEvent {
  readonly id: string;
  readonly event: NewEvent;
}

export interface Outbox {
  /**
   * Appends events in the transaction of the changes that they are about: at once, or at the end of `gather`. Once a
   * transaction, so that keys are locked in order.
   */
  append(tx: SqlTransaction, ...events: readonly NewEvent[]): Promise<void>;
  /**
   * Runs work that may append several times in the transaction: its events are appended together, at its end. So their keys
   * are locked for no longer than the commit takes.
   */
  gather<T>(tx: SqlTransaction, work: () => Promise<T>): Promise<T>;
  /**
   * Makes changes and appends their events by one statement, which is its own transaction: for what is called very
   * often. Returns the changed rows; the event of a row that is not among them is not appended.
   */
  appendWith<T>(sql: Sql, change: ChangeStatement, events: readonly RowEvent[]): Promise<readonly T[]>;
}

/** `wake` is called after a commit that appended something. */
export function createOutbox(wake: () => void): Outbox {
  /** The events of transactions that are still collecting them. */
  const gathered = new WeakMap<SqlTransaction, NewEvent[]>();

  async function append(tx: SqlTransaction, events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    await tx.$executeRawUnsafe(insertEvents, JSON.stringify(events.map(({ message }, at) => toInput(message, at))));
    afterCommit(tx, wake);
  }

  return {
    async append(tx, ...events) {
      const waiting = gathered.get(tx);
      if (waiting) waiting.push(...events);
      else await append(tx, events);
    },
    async gather(tx, work) {
      const events: NewEvent[] = [];
      gathered.set(tx, events);
      const result = await work().finally(() => gathered.delete(tx));
      await append(tx, events);
      return result;
    },
    async appendWith<T>(sql: Sql, { text, values }: ChangeStatement, events: readonly RowEvent[]) {
      const appended = appending(`$${values.length + 1}`, 'row_id IN (SELECT id FROM changed)');
      const input = events.map(({ id, event }, at) => ({ ...toInput(event.message, at), row_id: id }));
      const statement = `WITH ${text}, ${appended} SELECT * FROM changed`;
      const rows = await sql.$queryRawUnsafe<T[]>(statement, ...values, JSON.stringify(input));
      if (rows.length > 0) wake();
      return rows;
    },
  };
}

const toInput = ({ topic, envelope }: Message, ordinal: number) => ({ ordinal, topic, ...envelope });
