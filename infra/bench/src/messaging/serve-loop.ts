import { relayBatchSize } from '@attribution/messaging';
import { serveCommands } from './commands.ts';
import { idleCost } from './idle-cost.ts';

/** What has come to a consumer. */
export interface Received {
  /** So many more. */
  add(count: number): void;
  /** Resolves when so many have come from now on. */
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
  /** Resolves when it is acknowledged; the next is sent then. */
  readonly send: (batch: T[]) => Promise<unknown>;
  readonly received: Received;
}

/** For the programs that are a producer and a consumer of Kafka and nothing else: batches as large as the relay's. */
export function serveLoop<T>({ newMessage, send, received }: Loop<T>): void {
  let batches: T[][] = [];
  serveCommands({
    async prepare({ events = 0 }) {
      batches = [];
      for (let left = events; left > 0; left -= relayBatchSize)
        batches.push(Array.from({ length: Math.min(relayBatchSize, left) }, newMessage));
      return {};
    },
    /** Events a second from the first batch to the last message that was received, of those that were prepared. */
    async drain({ events = 0 }) {
      const start = performance.now();
      const all = received.all(events);
      for (const batch of batches) await send(batch);
      await all;
      return { rate: (events / (performance.now() - start)) * 1_000 };
    },
    /** Milliseconds of the processor that each second costs while nothing is sent. */
    idle: ({ seconds = 1 }) => idleCost(seconds),
  });
}
