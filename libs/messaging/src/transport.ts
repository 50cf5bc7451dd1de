import type { Envelope, Topic } from '@attribution/contracts';

/** An event on its topic. */
export interface Message {
  readonly topic: string;
  readonly envelope: Envelope;
}

/** One service's wish to hear of topics. */
export interface Subscription {
  /** The consumer group: each group gets each event. */
  readonly group: string;
  readonly topics: readonly string[];
  /**
   * Resolves when the event is done with: its effect is committed, or it lies among the dead letters. Rejects when
   * nothing could be done for now (the database is away): the transport brings the event again.
   */
  readonly handle: (message: Message) => Promise<void>;
}

export interface PublishResult {
  /** event_ids that every subscriber, or the broker, has for good. */
  readonly acknowledged: readonly string[];
  /** The first message of each key that failed; what follows it in its key was not tried. */
  readonly failed: readonly { readonly message: Message; readonly error: Error }[];
}

/**
 * What carries events. Within a (topic, key) events are delivered in the order in which they were published, at
 * least once; consumers make that once by their inbox.
 */
export interface Transport {
  /** Makes topics exist. */
  declare(topics: readonly Topic[]): void;
  subscribe(subscription: Subscription): void;
  /** After all `declare` and `subscribe`. Does not wait for a broker that is away: `check` tells. */
  start(): Promise<void>;
  publish(messages: readonly Message[]): Promise<PublishResult>;
  /** Throws while the broker cannot be reached. */
  check(): Promise<void>;
  /** Stops deliveries; events in hand are finished. Publishing goes on until `close`. */
  stopConsuming(): Promise<void>;
  close(): Promise<void>;
}

/** Messages by (topic, key), each in order. */
export function byKey(messages: readonly Message[]): Message[][] {
  const lane = ({ topic, envelope }: Message) => `${topic} ${envelope.key}`;
  return [...Map.groupBy(messages, lane).values()];
}

/** Runs `work` on all items, at most `width` at once. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
}
