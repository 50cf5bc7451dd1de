import {
  type Message,
  messagesLeft,
  readEnvelope,
  type Subscription,
  type Unreadable,
  unreadable,
} from '@attribution/messaging';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { Logger } from 'pino';
import { pause, retry } from './retry.ts';

/** Messages that a subscriber is given at a time, at most. */
const sliceSize = 500;
/** Milliseconds between two attempts at events whose effects are not possible at present. */
const pauses = { first: 250, longest: 5_000 };

export interface BatchHandlerOptions {
  readonly subscription: Subscription;
  readonly prefix: string;
  readonly heartbeatIntervalMs: number;
  readonly logger: Logger;
  /** Aborted when the process stops: what has no effect yet is left to the next consumer of the group. */
  readonly closing: AbortSignal;
}

type ShouldContinue = () => boolean;

/** Gives a subscriber what kafkajs fetched from one partition. */
export class BatchHandler {
  readonly #options: BatchHandlerOptions;

  constructor(options: BatchHandlerOptions) {
    this.#options = options;
  }

  /** The offset moves with each slice that is done, so that a consumer that stops leaves little to be repeated. */
  async handle({ batch, heartbeat, isRunning, isStale, resolveOffset }: EachBatchPayload): Promise<void> {
    const { closing, heartbeatIntervalMs } = this.#options;
    const shouldContinue = () => isRunning() && !isStale() && !closing.aborted;
    // kafkajs skips a heartbeat that comes sooner than its interval after the last one: a timer of exactly that interval
    // would send every other one.
    const beat = setInterval(() => void heartbeat().catch(() => {}), heartbeatIntervalMs / 3);
    try {
      for (let start = 0; start < batch.messages.length && shouldContinue(); start += sliceSize) {
        const slice = batch.messages.slice(start, start + sliceSize);
        const { messages, strange } = this.#read(batch, slice);
        if (!(await this.#setAsideUntilDone(strange, shouldContinue))) return;
        if (!(await this.#handleUntilDone(messages, shouldContinue))) return;
        resolveOffset(slice.at(-1)?.offset ?? '');
        await heartbeat(); // Throws when the group is rebalancing: the rest may then belong to another consumer.
      }
    } finally {
      clearInterval(beat);
    }
  }

  #read({ topic: fullName, partition }: EachBatchPayload['batch'], slice: readonly KafkaMessage[]) {
    const topic = fullName.slice(this.#options.prefix.length);
    const messages: Message[] = [];
    const strange: Unreadable[] = [];
    for (const { offset, value } of slice) {
      try {
        messages.push({ topic, envelope: readEnvelope(value) });
      } catch (error) {
        strange.push(unreadable({ topic, partition, offset, value }, error));
      }
    }
    return { messages, strange };
  }

  /** False when it had to stop before all were stored as dead letters. */
  async #setAsideUntilDone(strange: readonly Unreadable[], shouldContinue: ShouldContinue): Promise<boolean> {
    const { subscription, logger } = this.#options;
    let done = 0;
    const setAside = async () => {
      for (; done < strange.length; done++) await subscription.setAside(strange[done] as Unreadable);
    };
    const message = 'A message that is no event cannot be stored as a dead letter at present; its partition waits';
    await retry(setAside, { logger, message, isOver: () => !shouldContinue() });
    return done === strange.length;
  }

  /** False when it had to stop before all had their effects. */
  async #handleUntilDone(messages: readonly Message[], shouldContinue: ShouldContinue): Promise<boolean> {
    const { subscription, logger } = this.#options;
    let left = messages;
    for (let pauseMs = pauses.first; shouldContinue(); pauseMs = Math.min(pauseMs * 2, pauses.longest)) {
      const failures = await subscription.handle(left);
      const [first] = failures;
      if (!first) return true;
      logger.warn(
        { err: first.error, event_id: first.message.envelope.event_id, keys: failures.length },
        'Events wait: their effects are not possible now; this is the first of them',
      );
      left = messagesLeft(left, failures);
      await pause(pauseMs);
    }
    return false;
  }
}
