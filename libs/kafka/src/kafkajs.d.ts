/** The internals of kafkajs that `kafkajs-idle.ts`, `kafkajs-clock.ts` and `kafkajs-place.ts` touch. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    /** Milliseconds since the epoch; -1 when the broker has never asked to wait. */
    readonly throttledUntil: number;
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/consumer/consumerGroup.js' {
  export default class ConsumerGroup {
    /** Milliseconds since the epoch: of the last heartbeat. */
    lastRequest: number;
    heartbeat(options: { readonly interval: number }): Promise<void>;
    /** Null for one that has no place yet, or none any more. */
    memberId: string | null;
    joinAndSync(): Promise<void>;
    readonly instrumentationEmitter: { emit(event: string, payload: object): void };
  }
}

/** What `kafkajs-reset.ts` touches. */
declare module 'kafkajs/src/consumer/offsetManager/index.js' {
  type Offsets = Record<string, Record<number, string | undefined> | undefined>;
  export default class OffsetManager {
    /** What comes next, by topic and partition, where something has been done; else what the group has committed. */
    readonly resolvedOffsets: Offsets;
    committedOffsets(): Offsets;
    setDefaultOffset(at: { topic: string; partition: number }): Promise<void>;
    readonly instrumentationEmitter: { emit(event: string, payload: object): void };
  }
}
