import type { Envelope } from '@attribution/contracts';
import { type Database, isHeldUp, isServerTrouble, type SqlTransaction } from '@attribution/database';
import type { Tracing } from '@attribution/tracing';
import type { DeadLetters } from './dead-letters.ts';
import type { Effects } from './effects.ts';
import type { EventMetrics } from './event-metrics.ts';
import { envelopeOf } from './letter.ts';
import { beginSpans } from './spans.ts';
import type { Message } from './transport.ts';

export interface ReplayOptions<Tx extends SqlTransaction> {
  readonly database: Pick<Database<SqlTransaction, Tx>, 'transaction'>;
  readonly effects: Effects<Tx>;
  readonly deadLetters: DeadLetters;
  readonly tracing: Tracing;
  readonly metrics: EventMetrics | undefined;
}

interface Attempt {
  readonly envelopes: readonly Envelope[];
  end(failure?: unknown): void;
}

/** Handles the dead letters that an operator asked to be replayed. */
export class Replay<Tx extends SqlTransaction> {
  readonly #options: ReplayOptions<Tx>;

  constructor(options: ReplayOptions<Tx>) {
    this.#options = options;
  }

  /** Returns how many succeeded. */
  async run(): Promise<number> {
    let done = 0;
    for (let outcome = await this.#next(); outcome !== 'none'; outcome = await this.#next()) {
      if (outcome === 'done') done++;
    }
    return done;
  }

  /** One letter in one transaction: it is gone and its effect done, or it is still there with its new error. */
  async #next(): Promise<'done' | 'failed' | 'none'> {
    const { database, effects, deadLetters } = this.#options;
    let id: bigint | undefined;
    let attempt: Attempt | undefined;
    try {
      const outcome = await database.transaction(async (tx) => {
        const letter = await deadLetters.takeRequested(tx);
        id = letter?.id;
        if (!letter) return 'none';
        attempt = this.#begin({ topic: letter.topic, envelope: envelopeOf(letter.letter) });
        await effects.apply(tx, attempt.envelopes, true); // Events after it in its key may be handled at this moment.
        await deadLetters.remove(tx, letter.id);
        return 'done';
      });
      attempt?.end();
      return outcome;
    } catch (error) {
      attempt?.end(error);
      const failed = id;
      if (failed === undefined || isServerTrouble(error) || isHeldUp(error)) throw error;
      await database.transaction((tx) => deadLetters.putBack(tx, failed, error));
      return 'failed';
    }
  }

  /** In traces and metrics, a replay is one more attempt at its event. */
  #begin(message: Message): Attempt {
    const { tracing, metrics } = this.#options;
    const spans = beginSpans(tracing, [message], 'consumer', { replay: true });
    const envelopes = spans.messages.map(({ envelope }) => envelope);
    return {
      envelopes,
      end(failure) {
        spans.end(() => failure);
        if (failure === undefined) metrics?.onHandled(envelopes);
        else metrics?.onFailed(message.envelope);
      },
    };
  }
}
