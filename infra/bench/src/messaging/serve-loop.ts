import { relayBatchSize } from '@attribution/messaging';
import { serveCommands } from './commands.ts';
import { idleCost } from './idle-cost.ts';

/** Counts the messages that a consumer has received. */
export interface Received {
  add(count: number): void;
  /** Resets the count. Resolves when that many messages have been received. */
  all(count: number): Promise<void>;
}

export function newReceived(): Received {
  let [count, awaited, reached] = [0, Number.POSITIVE_INFINITY, () => {}];
  return {
    add(more) {
      count += more;
      if (count >= awaited) reached();
    },
    all: (wanted) =>
      new Promise((resolve) => {
        [count, awaited, reached] = [0, wanted, resolve];
      }),
  };
}

interface Loop<T> {
  readonly newMessage: () => T;
  /** Resolves when the batch is acknowledged. The next one is sent after that. */
  readonly send: (batch: T[]) => Promise<unknown>;
  readonly received: Received;
}

/** Serves the commands of a program that is only a Kafka producer and consumer, with batches as large as the relay's. */
export function serveLoop<T>({ newMessage, send, received }: Loop<T>): void {
  let batches: T[][] = [];
  serveCommands({
    async prepare({ events = 0 }) {
      batches = [];
      for (let remaining = events; remaining > 0; remaining -= relayBatchSize)
        batches.push(Array.from({ length: Math.min(relayBatchSize, remaining) }, newMessage));
      return {};
    },
    /** Sends the prepared events. Returns events per second from the first batch to the last received message. */
    async drain({ events = 0 }) {
      const start = performance.now();
      const all = received.all(events);
      for (const batch of batches) await send(batch);
      await all;
      return { rate: (events / (performance.now() - start)) * 1_000 };
    },
    /** Returns the milliseconds of CPU time per second while nothing is sent. */
    idle: ({ seconds = 1 }) => idleCost(seconds),
  });
}
