import type { Database, SqlTransaction } from '@attribution/database';
import type { Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';
import { gatherBatches, type Submission } from './batches.ts';
import type { Effects } from './effects.ts';
import type { EventMetrics } from './event-metrics.ts';
import { maxEventsPerTransaction } from './handlers.ts';
import type { SingleConsumer } from './single-consumer.ts';
import { beginSpans } from './spans.ts';
import { type Failure, type Message, messagesLeft } from './transport.ts';

/** Transactions at a time. The second keeps the database busy while this process reads and writes. */
const concurrency = 2;

type Failures = readonly Failure[];

export interface BatchConsumerOptions<Tx extends SqlTransaction> {
  readonly database: Pick<Database<SqlTransaction, Tx>, 'transaction' | 'sqlTransaction'>;
  readonly effects: Effects<Tx>;
  /** Takes the events of a batch that failed. */
  readonly singles: SingleConsumer<Tx>;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly metrics: EventMetrics | undefined;
}

/** Gives events their effects in shared transactions. */
export class BatchConsumer<Tx extends SqlTransaction> {
  readonly #options: BatchConsumerOptions<Tx>;
  readonly #submit: (messages: readonly Message[]) => Promise<Failures>;

  constructor(options: BatchConsumerOptions<Tx>) {
    this.#options = options;
    this.#submit = gatherBatches<Message, Failures>({
      maxCost: maxEventsPerTransaction,
      costOf: (message) => options.effects.costOf(message),
      concurrency,
      work: (submissions) => this.#attempt(submissions),
    });
  }

  /** As `Subscription.handle`. */
  async handle(messages: readonly Message[]): Promise<Failures> {
    const failures: Failure[] = [];
    let left = messages.filter((message) => this.#options.effects.concern(message));
    while (left.length > 0) {
      const batch = left.slice(0, this.#batchLength(left));
      const failed = await this.#submit(batch);
      failures.push(...failed);
      const waiting = new Set(messagesLeft(left, failed));
      left = left.slice(batch.length).filter((message) => !waiting.has(message));
    }
    return failures;
  }

  /** How many of the messages share the next transaction. */
  #batchLength(messages: readonly Message[]): number {
    let cost = 0;
    const end = messages.findIndex((message) => {
      cost += this.#options.effects.costOf(message);
      return cost > maxEventsPerTransaction;
    });
    return end === -1 ? messages.length : end;
  }

  /**
   * All submissions in one transaction. Where that fails, each in a transaction of its own; where that fails too, event
   * by event: nothing is known of which event is at fault, and one must not keep back what only came with it.
   */
  async #attempt(submissions: readonly Submission<Message, Failures>[]): Promise<void> {
    const { tracing, metrics, logger, singles } = this.#options;
    const messages = submissions.flatMap(({ items }) => items);
    const spans = beginSpans(tracing, messages, 'consumer');
    try {
      await this.#apply(spans.messages);
      spans.end();
      metrics?.onHandled(messages.map(({ envelope }) => envelope));
      for (const { settle } of submissions) settle([]);
    } catch (error) {
      spans.end(() => error);
      logger.warn({ err: error, events: messages.length }, 'Events failed together; trying fewer at once');
      const [first, ...others] = submissions;
      if (others.length > 0) for (const submission of submissions) void this.#attempt([submission]);
      else first?.settle(singles.handle(messages));
    }
  }

  #apply(messages: readonly Message[]): Promise<void> {
    const { database, effects } = this.#options;
    const envelopes = messages.map(({ envelope }) => envelope);
    if (!effects.areSqlOnly(messages)) return database.transaction((tx) => effects.apply(tx, envelopes));
    return database.sqlTransaction((tx) => effects.apply(tx as SqlTransaction as Tx, envelopes));
  }
}
