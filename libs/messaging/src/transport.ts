import type { Envelope, Topic } from '@attribution/contracts';
import type { Unreadable } from './unreadable.ts';

/** An event on its topic. */
export interface Message {
  readonly topic: string;
  readonly envelope: Envelope;
}

/** A message that could not be done; what follows it in its key was not tried, or is not known to be done. */
export interface Failure {
  readonly message: Message;
  readonly error: Error;
}

/** One service's wish to hear of topics. */
export interface Subscription {
  /** The consumer group: each group gets each event. */
  readonly group: string;
  readonly topics: readonly string[];
  /**
   * Handles messages, those of one key in their order; a key's messages are not given to two calls at once. Resolves
   * when each is done with (its effect is committed, or it lies among the dead letters), but for the failures: the
   * first message of each key for which nothing can be done now (the database is away). The transport brings that one
   * and what follows it in its key again.
   */
  readonly handle: (messages: readonly Message[]) => Promise<readonly Failure[]>;
  /** Resolves when it lies among the dead letters; rejects when that is not possible now. */
  readonly setAside: (unreadable: Unreadable) => Promise<void>;
}

export interface PublishResult {
  /** event_ids that every subscriber, or the broker, has for good. */
  readonly acknowledged: readonly string[];
  /** The first message of each key that failed. */
  readonly failed: readonly Failure[];
}

/** Events of a topic that a consumer group has not acknowledged yet. */
export interface Lag {
  readonly group: string;
  readonly topic: string;
  readonly events: number;
  /** The offset that is next, of each partition in which events wait. */
  readonly next: readonly { readonly partition: number; readonly offset: number }[];
}

/** Events of a topic that were deleted before a consumer group came to them. */
export interface Missed {
  readonly group: string;
  readonly topic: string;
  readonly events: number;
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
  /** Throws while the broker cannot be reached, or has not let every subscriber in yet. */
  check(): Promise<void>;
  /** How far the subscribers of this process are behind; left out by what has nothing to be behind of. */
  lag?(): Promise<readonly Lag[]>;
  /** What the subscribers of this process have missed since it began; left out by what deletes nothing. */
  missed?(): readonly Missed[];
  /** Stops deliveries; events in hand are finished. Publishing goes on until `close`. */
  stopConsuming(): Promise<void>;
  close(): Promise<void>;
}

/** What orders events: those with the same lane keep their order. */
export function laneOf(topic: string, key: string): string {
  return `${topic} ${key}`;
}

const lane = ({ topic, envelope }: Message) => laneOf(topic, envelope.key);

/** Messages by (topic, key), each in order. */
export function byKey(messages: readonly Message[]): Message[][] {
  return [...Map.groupBy(messages, lane).values()];
}

/** Of the messages, in order: each failed one and what follows it in its key. */
export function undone(messages: readonly Message[], failures: readonly Failure[]): Message[] {
  if (failures.length === 0) return [];
  const first = new Map(failures.map(({ message }) => [lane(message), message.envelope.event_id]));
  const reached = new Set<string>();
  return messages.filter((message) => {
    const name = lane(message);
    if (first.get(name) === message.envelope.event_id) reached.add(name);
    return reached.has(name);
  });
}

export function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}

/** Runs `work` on all items, at most `width` at once. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
