import { type Database, isHeldUp, isServerTrouble, type SqlTransaction } from '@attribution/database';
import type { Tracing } from '@attribution/tracing';
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { DeadLetterWriter } from './dead-letter-writer.ts';
import type { Effects } from './effects.ts';
import type { EventMetrics } from './event-metrics.ts';
import { UnknownEvent } from './handlers.ts';
import { beginSpans, traceFieldsOf } from './spans.ts';
import { asError, type Failure, type Message, splitByKey } from './transport.ts';

/** Keys that are handled at a time. */
const concurrency = 4;

export interface SingleConsumerOptions<Tx extends SqlTransaction> {
  readonly database: Pick<Database<SqlTransaction, Tx>, 'transaction' | 'ping'>;
  readonly effects: Effects<Tx>;
  readonly deadLetters: DeadLetterWriter<Tx>;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly metrics: EventMetrics | undefined;
  /** Milliseconds before the second and each further attempt. */
  readonly backoff: readonly number[];
}

/** Gives each event its effect in a transaction of its own, with several attempts; what keeps failing is a dead letter. */
export class SingleConsumer<Tx extends SqlTransaction> {
  readonly #options: SingleConsumerOptions<Tx>;

  constructor(options: SingleConsumerOptions<Tx>) {
    this.#options = options;
  }

  /** The keys side by side, each in order up to its first failure. */
  async handle(messages: readonly Message[]): Promise<readonly Failure[]> {
    const failures: Failure[] = [];
    await pLimit(concurrency).map(splitByKey(messages), async (ofKey) => {
      for (const message of ofKey) {
        // Where several keys found no database, the next would only wait for it in vain.
        const known = failures.length < concurrency ? undefined : failures[0]?.error;
        const error = known ?? (await this.#handleOne(message).then(() => undefined, asError));
        if (!error) continue;
        failures.push({ message, error });
        return;
      }
    });
    return failures;
  }

  /** Resolves when the event has its effect or is a dead letter; rejects when neither is possible now. */
  async #handleOne(message: Message): Promise<void> {
    const { logger, backoff, deadLetters } = this.#options;
    const { envelope } = message;
    for (let attempt = 1; ; attempt++) {
      const error = await this.#attempt(message, attempt);
      if (error === undefined) return;
      const wait = isHopeless(error) ? undefined : backoff[attempt - 1];
      if (wait === undefined) return deadLetters.bury(message, error, attempt);
      logger.warn(
        { err: error, event_id: envelope.event_id, type: envelope.type, attempt, ...traceFieldsOf(envelope) },
        'An event failed; trying again',
      );
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** The error of an attempt that failed, unless the database was at fault: that is thrown. */
  async #attempt(message: Message, attempt: number): Promise<unknown> {
    const { database, effects, tracing, metrics } = this.#options;
    const spans = beginSpans(tracing, [message], 'consumer', { attempt });
    try {
      const envelopes = spans.messages.map(({ envelope }) => envelope);
      await database.transaction((tx) => effects.apply(tx, envelopes));
      spans.end();
      metrics?.onHandled(envelopes);
      return undefined;
    } catch (error) {
      spans.end(() => error);
      metrics?.onFailed(message.envelope);
      // If the database is unavailable or full, or a lock is held for long, the failure is not the event's: the transport
      // delivers it again. An event that is always too slow blocks its key, and raises an alert.
      if (isServerTrouble(error) || isHeldUp(error)) throw error;
      await database.ping();
      return error ?? new Error('The handler threw nothing');
    }
  }
}

/** It fails however often it is tried. */
const isHopeless = (error: unknown) => error instanceof z.ZodError || error instanceof UnknownEvent;
