import type { Envelope, EventData, EventType } from '@attribution/contracts';
import type { Sql, SqlTransaction } from '@attribution/database';
import { inTrace } from '@attribution/tracing';

/** Events that share a transaction, at most. A handler may ask for fewer. */
export const maxEventsPerTransaction = 500;

/** An event as a handler sees it. */
export interface Received<T extends EventType> {
  readonly id: string;
  readonly type: string;
  readonly accountId: string;
  readonly occurredAt: Date;
  readonly traceparent: string | null;
  readonly data: EventData<T>;
}

/** One kind of event and its effect on this service's database. */
export interface EventHandler<Tx> {
  readonly event: EventType;
  /** Events that came one after the other: of this kind, and of the others whose handlers have this same function. */
  readonly handle: (tx: Tx, events: readonly Received<EventType>[]) => Promise<void>;
  /** Its events that may share a transaction, at most: what it locks is held until the last of them is done. */
  readonly eventsPerTransaction: number;
  /** Its transaction need not offer Prisma's models. */
  readonly sqlOnly: boolean;
  /** Waits for a lock, before the first effect of a transaction. `exclusive`: the events come out of their order. */
  readonly lock?: (tx: Tx, exclusive: boolean) => Promise<void>;
}

export interface HandlerOptions {
  /** Each event has a transaction of its own, shared with no other. Default: false. */
  readonly oneByOne?: boolean;
}

/**
 * Declares a handler. It runs in the transaction of the event's inbox row, and touches this database alone. Events that
 * arrive together share a transaction; where one of them fails, each is repeated in a transaction of its own.
 */
export function on<T extends EventType, Tx>(
  eventType: T,
  handle: (tx: Tx, event: Received<T>) => Promise<void>,
  { oneByOne = false }: HandlerOptions = {},
): EventHandler<Tx> {
  return {
    event: eventType,
    eventsPerTransaction: oneByOne ? 1 : 50,
    sqlOnly: false,
    async handle(tx, events) {
      for (const event of events) await inTraceOf(event, () => handle(tx, event as Received<T>));
    },
  };
}

/** What one event's handler logs belongs to the trace of the event. */
function inTraceOf<R>({ traceparent }: Pick<Received<EventType>, 'traceparent'>, work: () => R): R {
  return traceparent === null ? work() : inTrace({ traceparent }, work);
}

/**
 * Declares a handler that takes many events at a time, in their order, and writes their effects by a few statements of
 * SQL. A key may occur more than once among them. Rows that other transactions write as well are best written in the
 * order of their ids, lest two of them deadlock.
 */
export function onBatch<T extends EventType, Tx extends SqlTransaction = Sql>(
  eventType: T,
  handle: (tx: Tx, events: readonly Received<T>[]) => Promise<void>,
): EventHandler<Tx> {
  return {
    event: eventType,
    eventsPerTransaction: maxEventsPerTransaction,
    sqlOnly: true,
    handle: handle as EventHandler<Tx>['handle'],
  };
}

/** The event's type or version is unknown here: a newer release published it, or a stranger. */
export class UnknownEvent extends Error {
  constructor({ type, version }: Envelope) {
    super(`Nobody here knows ${type} in version ${version}`);
  }
}

const name = ({ type, version }: Pick<Envelope, 'type' | 'version'>) => `${type} ${version}`;

/** Whether an event is among those that are declared. */
export function indexDeclared(declared: readonly EventType[]) {
  const names = new Set(declared.map(name));
  return (envelope: Envelope) => names.has(name(envelope));
}

/** Handlers by type and version. */
export function indexHandlers<Tx>(handlers: readonly EventHandler<Tx>[]) {
  const index = Map.groupBy(handlers, ({ event }) => name(event));
  const none: readonly EventHandler<Tx>[] = [];
  return (envelope: Envelope) => index.get(name(envelope)) ?? none;
}

type HandlersOf<Tx> = (envelope: Envelope) => readonly EventHandler<Tx>[];

/** Takes the locks that the events' handlers ask for, each once: before the first effect, so that none is waited for while rows are locked. */
export async function takeLocks<Tx>(
  tx: Tx,
  envelopes: readonly Envelope[],
  handlersOf: HandlersOf<Tx>,
  exclusive: boolean,
): Promise<void> {
  const locks = new Set(envelopes.flatMap((envelope) => handlersOf(envelope).map(({ lock }) => lock)));
  for (const lock of locks) await lock?.(tx, exclusive);
}

/**
 * Runs the handlers of events in their order; what comes one after the other and has the same handlers, together. Throws
 * where an event has none.
 */
export async function runHandlers<Tx>(
  tx: Tx,
  envelopes: readonly Envelope[],
  handlersOf: HandlersOf<Tx>,
): Promise<void> {
  for (let start = 0, end = 0; start < envelopes.length; start = end) {
    const handlers = handlersOf(envelopes[start] as Envelope);
    if (handlers.length === 0) throw new UnknownEvent(envelopes[start] as Envelope);
    while (end < envelopes.length && areSame(handlersOf(envelopes[end] as Envelope), handlers)) end++;
    const run = envelopes.slice(start, end);
    for (const [at, { handle }] of handlers.entries())
      await handle(
        tx,
        run.map((envelope) => receive(handlersOf(envelope)[at]?.event as EventType, envelope)),
      );
  }
}

const areSame = <Tx>(some: readonly EventHandler<Tx>[], others: readonly EventHandler<Tx>[]) =>
  some === others || (some.length === others.length && some.every(({ handle }, at) => handle === others[at]?.handle));

const receive = (eventType: EventType, envelope: Envelope): Received<EventType> => ({
  id: envelope.event_id,
  type: envelope.type,
  accountId: envelope.account_id,
  occurredAt: new Date(envelope.occurred_at),
  traceparent: envelope.traceparent,
  data: eventType.data.parse(envelope.data) as never,
});
