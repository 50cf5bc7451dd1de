import { type Envelope, events, type ServiceName } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import {
  type EventHandler,
  indexDeclared,
  indexHandlers,
  maxEventsPerTransaction,
  runHandlers,
  takeLocks,
} from './handlers.ts';
import { insertInboxRows } from './inbox.ts';
import type { Outbox } from './outbox.ts';
import type { Message } from './transport.ts';

/** What events do to a service's database: its handlers, and the inbox that lets each event take effect once. */
export class Effects<Tx extends SqlTransaction> {
  readonly #service: ServiceName;
  readonly #outbox: Outbox;
  readonly #handlersOf: (envelope: Envelope) => readonly EventHandler<Tx>[];
  readonly #isDeclared = indexDeclared(events);

  constructor(service: ServiceName, outbox: Outbox, handlers: readonly EventHandler<Tx>[]) {
    this.#service = service;
    this.#outbox = outbox;
    this.#handlersOf = indexHandlers(handlers);
  }

  /**
   * Applies events, in the caller's transaction: inserts their inbox rows, runs the handlers of those that were not there,
   * and appends what all of the handlers publish by one statement. `exclusive`: the events come out of their order.
   */
  async apply(tx: Tx, envelopes: readonly Envelope[], exclusive = false): Promise<void> {
    const fresh = await insertInboxRows(tx, this.#service, envelopes);
    await takeLocks(tx, fresh, this.#handlersOf, exclusive);
    await this.#outbox.gather(tx, () => runHandlers(tx, fresh, this.#handlersOf));
  }

  /** Whether an event has handlers here. An undeclared event may be meant for this service's next release. */
  concern({ envelope }: Message): boolean {
    return this.#handlersOf(envelope).length > 0 || !this.#isDeclared(envelope);
  }

  /** An event's part of a transaction, where `maxEventsPerTransaction` is the whole. */
  costOf({ envelope }: Message): number {
    const limits = this.#handlersOf(envelope).map((handler) => handler.eventsPerTransaction);
    return maxEventsPerTransaction / Math.min(maxEventsPerTransaction, ...limits);
  }

  /** Whether the handlers of all these events do with SQL alone, and are spared the cost of a client with models. */
  areSqlOnly(messages: readonly Message[]): boolean {
    return messages.every(({ envelope }) => this.#handlersOf(envelope).every(({ sqlOnly }) => sqlOnly));
  }
}
