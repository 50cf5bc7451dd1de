import type { Subscription } from '@attribution/messaging';
import type { Consumer, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { BatchHandler } from './batch-handler.ts';
import { maxRetryPauseMs } from './client.ts';
import { keepPlace, type Place } from './kafkajs-place.ts';
import { onReset, type Reset } from './kafkajs-reset.ts';
import { groupIdOf } from './lag.ts';
import { retry } from './retry.ts';

export interface GroupConsumerOptions {
  readonly kafka: Kafka;
  readonly subscription: Subscription;
  readonly prefix: string;
  /** Milliseconds. */
  readonly sessionTimeout: number;
  readonly logger: Logger;
  /** Aborted when no more events are to be delivered. */
  readonly stopping: AbortSignal;
  /** Aborted when the process stops. */
  readonly closing: AbortSignal;
  /** Counts events that were deleted before this consumer reached them; rejects while the broker cannot say how many. */
  readonly countMissed: (reset: Reset) => Promise<void>;
}

/**
 * One subscription's consumer in its group. One that crashes is replaced by another: kafkajs restarts its own after some
 * errors, and gives up for good, without a word, after others that pass as well, such as a coordinator that is not
 * available yet.
 */
export class GroupConsumer {
  readonly #options: GroupConsumerOptions;
  readonly #fetchWaitMs: number;
  readonly #heartbeatIntervalMs: number;
  readonly #batches: BatchHandler;
  readonly #place: Place = {};
  #running: Consumer | undefined;

  constructor(options: GroupConsumerOptions) {
    this.#options = options;
    // The broker answers a fetch as soon as there are events, and otherwise after this time. Heartbeats go between fetches:
    // a consumer learns of a rebalance by its next one, and all of its group wait for the last one to learn it.
    this.#fetchWaitMs = Math.min(1_000, options.sessionTimeout / 3);
    this.#heartbeatIntervalMs = 0.9 * this.#fetchWaitMs; // Shorter: kafkajs skips a heartbeat that comes too early.
    this.#batches = new BatchHandler({ ...options, heartbeatIntervalMs: this.#heartbeatIntervalMs });
  }

  /** Resolves when it has joined its group, however long the broker takes, or when it is to stop. */
  async join(): Promise<void> {
    const { logger, stopping } = this.#options;
    const options = { logger, message: 'Kafka is not reachable yet', isOver: () => stopping.aborted };
    await retry(() => this.#start(), options);
  }

  async leave(): Promise<void> {
    await this.#running?.disconnect();
  }

  async #start(): Promise<void> {
    const consumer = this.#newConsumer();
    let crash: Error | undefined;
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      crash = payload.error;
      if (this.#running !== consumer) return; // It has not joined yet: `join` tries again.
      this.#running = undefined;
      void this.join();
    });
    try {
      await this.#run(consumer);
      if (crash) throw crash;
      this.#running = consumer;
    } catch (error) {
      await consumer.disconnect(); // Its connection would stay open until the broker closes it.
      throw error;
    }
    if (this.#options.stopping.aborted) await consumer.disconnect();
  }

  #newConsumer(): Consumer {
    const { kafka, subscription, prefix, sessionTimeout, logger, closing, countMissed } = this.#options;
    const consumer = kafka.consumer({
      groupId: groupIdOf(prefix, subscription),
      sessionTimeout,
      heartbeatInterval: this.#heartbeatIntervalMs,
      maxWaitTimeInMs: this.#fetchWaitMs,
      allowAutoTopicCreation: false,
      retry: { retries: Number.MAX_SAFE_INTEGER, maxRetryTime: maxRetryPauseMs, restartOnFailure: async () => false },
    });
    keepPlace(consumer, this.#place);
    onReset(consumer, (reset) => {
      const message = 'How many events were deleted before they were handled is not known yet';
      void retry(() => countMissed(reset), { logger, message, isOver: () => closing.aborted });
    });
    return consumer;
  }

  async #run(consumer: Consumer): Promise<void> {
    const { subscription, prefix } = this.#options;
    await consumer.connect();
    await consumer.subscribe({ topics: subscription.topics.map((topic) => prefix + topic), fromBeginning: true });
    await consumer.run({
      autoCommit: true,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 32, // The subscriber itself limits how much it does at a time.
      eachBatch: (payload) => this.#batches.handle(payload),
    });
  }
}
