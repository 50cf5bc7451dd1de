import { noTracing, type Tracing } from '@attribution/tracing';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import { BlockedKeys } from './blocked-keys.ts';
import { type Completion, completeMessages } from './completion.ts';
import { type OutboxRow, recordFailures, stepOutbox, toMessage } from './outbox-rows.ts';
import { beginSpans } from './spans.ts';
import {
  type Failure,
  type Message,
  orderingKey,
  orderingKeyOf,
  type PublishResult,
  type Transport,
} from './transport.ts';

export interface OutboxPublisherOptions {
  readonly transport: Transport;
  readonly logger: Logger;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
  /** Events that are published at a time, at most. */
  readonly batchSize: number;
  /** How events are completed that were appended by reference. Default: there are none. */
  readonly completions?: readonly Completion[];
}

/** Publishes the rows of an outbox in their order. Only one may be at work on an outbox at a time. */
export class OutboxPublisher {
  readonly #transport: Transport;
  readonly #logger: Logger;
  readonly #tracing: Tracing;
  readonly #batchSize: number;
  readonly #completions: readonly Completion[];
  readonly #blocked = new BlockedKeys();

  constructor({ transport, logger, tracing = noTracing, batchSize, completions = [] }: OutboxPublisherOptions) {
    this.#transport = transport;
    this.#logger = logger;
    this.#tracing = tracing;
    this.#batchSize = batchSize;
    this.#completions = completions;
  }

  /**
   * Publishes until nothing is left that may be published. While a batch is on its way, the one before it is deleted and
   * the one after it is read.
   */
  async publishAll(client: PoolClient, shouldContinue: () => boolean): Promise<void> {
    let published: string[] = [];
    let rows = await this.#read(client);
    while (rows.length > 0 && shouldContinue()) {
      const [result, next] = await Promise.allSettled([
        completeMessages(client, rows.map(toMessage), this.#completions).then((messages) => this.#publish(messages)),
        this.#readAhead(client, published, rows),
      ]);
      if (next.status === 'rejected') throw next.reason; // The connection, and with it the lock, may be gone.
      if (result.status === 'rejected') throw result.reason;
      published = this.#noteAcknowledged(rows, result.value.acknowledged);
      if (result.value.failed.length > 0) await this.#block(client, result.value.failed);
      else if (next.value.length > 0) {
        rows = next.value;
        continue;
      }
      // Nothing was read ahead, or it may hold events of a key that now waits.
      rows = await this.#read(client, published);
      published = [];
    }
    if (published.length > 0) await this.#read(client, published, 0);
  }

  /** What an event causes is recorded below its publication. */
  async #publish(messages: readonly Message[]): Promise<PublishResult> {
    const spans = beginSpans(this.#tracing, messages, 'producer');
    try {
      const result = await this.#transport.publish(spans.messages);
      const done = new Set(result.acknowledged);
      spans.end(({ envelope }) => (done.has(envelope.event_id) ? undefined : (result.failed[0]?.error ?? 'not tried')));
      return result;
    } catch (error) {
      spans.end(() => error);
      throw error;
    }
  }

  #read(client: PoolClient, published: readonly string[] = [], limit = this.#batchSize): Promise<OutboxRow[]> {
    return stepOutbox(client, { published, blocked: this.#blocked.waiting(), limit });
  }

  /** Nothing, without asking, where the outbox had no more and there is nothing to delete. */
  async #readAhead(client: PoolClient, published: readonly string[], rows: readonly OutboxRow[]): Promise<OutboxRow[]> {
    if (published.length === 0 && rows.length < this.#batchSize) return [];
    const inFlight = rows.map(({ sequence }) => sequence);
    return stepOutbox(client, { published, inFlight, blocked: this.#blocked.waiting(), limit: this.#batchSize });
  }

  /** The sequences of the rows that were acknowledged. */
  #noteAcknowledged(rows: readonly OutboxRow[], acknowledged: readonly string[]): string[] {
    const ids = new Set(acknowledged);
    const done = ids.size === rows.length ? rows : rows.filter(({ event_id }) => ids.has(event_id));
    this.#blocked.release(() => done.map(({ topic, key }) => orderingKeyOf(topic, key)));
    return done.map(({ sequence }) => sequence);
  }

  async #block(client: PoolClient, failed: readonly Failure[]): Promise<void> {
    for (const { message } of failed) this.#blocked.block(orderingKey(message));
    const [first] = failed;
    this.#logger.warn(
      {
        event_id: first?.message.envelope.event_id,
        topic: first?.message.topic,
        keys: failed.length,
        err: first?.error,
      },
      'Events could not be published yet; this is the first of them',
    );
    await recordFailures(client, failed);
  }
}
