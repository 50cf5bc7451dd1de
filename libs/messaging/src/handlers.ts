import type { Envelope, EventData, EventType } from '@attribution/contracts';
import type { Sql, SqlTransaction } from '@attribution/database';

/** An event as a handler sees it. */
export interface Received<T extends EventType> {
  readonly id: string;
  readonly accountId: string;
  readonly occurredAt: Date;
  readonly traceparent: string | null;
  readonly data: EventData<T>;
}

/** One kind of event and its effect on this service's database. */
export interface EventHandler<Tx> {
  readonly event: EventType;
  /** Events of one kind that came one after the other. */
  readonly handle: (tx: Tx, events: readonly Received<EventType>[]) => Promise<void>;
  /** What it costs grows with each event, so that fewer of them share a transaction. */
  readonly oneByOne: boolean;
}

/** Declares a handler. It runs in the transaction that marks the event as done, so it touches this database alone. */
export function on<T extends EventType, Tx>(
  eventType: T,
  handle: (tx: Tx, event: Received<T>) => Promise<void>,
): EventHandler<Tx> {
  return {
    event: eventType,
    oneByOne: true,
    async handle(tx, events) {
      for (const event of events) await handle(tx, event as Received<T>);
    },
  };
}

/**
 * Declares a handler that takes events together, in their order: for projections, which write many rows by one
 * statement, and so are given SQL alone. One key may be among them more than once. Rows that others write too are best written in the order of
 * their ids.
 */
export function onBatch<T extends EventType, Tx extends SqlTransaction = Sql>(
  eventType: T,
  handle: (tx: Tx, events: readonly Received<T>[]) => Promise<void>,
): EventHandler<Tx> {
  return { event: eventType, oneByOne: false, handle: handle as EventHandler<Tx>['handle'] };
}

/** Handlers by type and version. */
export function indexHandlers<Tx>(handlers: readonly EventHandler<Tx>[]) {
  const name = ({ type, version }: Pick<Envelope, 'type' | 'version'>) => `${type} ${version}`;
  const index = Map.groupBy(handlers, ({ event }) => name(event));
  const none: readonly EventHandler<Tx>[] = [];
  return (envelope: Envelope) => index.get(name(envelope)) ?? none;
}

/** Runs the handlers of events in their order; what comes one after the other and is of one kind, together. */
export async function runHandlers<Tx>(
  tx: Tx,
  envelopes: readonly Envelope[],
  handlersOf: (envelope: Envelope) => readonly EventHandler<Tx>[],
): Promise<void> {
  for (let start = 0, end = 0; start < envelopes.length; start = end) {
    const handlers = handlersOf(envelopes[start] as Envelope);
    while (end < envelopes.length && handlersOf(envelopes[end] as Envelope) === handlers) end++;
    for (const handler of handlers) {
      const events = envelopes.slice(start, end).map((envelope) => receive(handler.event, envelope));
      await handler.handle(tx, events);
    }
  }
}

const receive = (eventType: EventType, envelope: Envelope): Received<EventType> => ({
  id: envelope.event_id,
  accountId: envelope.account_id,
  occurredAt: new Date(envelope.occurred_at),
  traceparent: envelope.traceparent,
  data: eventType.data.parse(envelope.data) as never,
});
