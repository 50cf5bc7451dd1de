import type { Envelope, Topic } from '@attribution/contracts';
import type { Unreadable } from './unreadable.ts';

/** An event on its topic. */
export interface Message {
  readonly topic: string;
  readonly envelope: Envelope;
}

/** A message that could not be handled or published. Nothing is known of those that follow it in its key. */
export interface Failure {
  readonly message: Message;
  readonly error: Error;
}

/** One service's subscription to topics. */
export interface Subscription {
  /** The consumer group: each group gets each event. */
  readonly group: string;
  readonly topics: readonly string[];
  /**
   * Handles messages, those of one key in their order; a key's messages are not given to two calls at the same time.
   * Resolves when each is dealt with: its effect is committed, or it is a dead letter. The failures are the first message
   * of each key for which neither is possible now, as while the database is away. The transport delivers it, and what
   * follows it in its key, again.
   */
  readonly handle: (messages: readonly Message[]) => Promise<readonly Failure[]>;
  /** Resolves when the message is stored as a dead letter; rejects when that is not possible now. */
  readonly setAside: (unreadable: Unreadable) => Promise<void>;
}

export interface PublishResult {
  /** event_ids of the events that the broker has stored, or every subscriber of this process has dealt with. */
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
 * Carries events. Within a (topic, key) they are delivered in the order of their publication, at least once; the
 * consumers' inbox turns that into one effect.
 */
export interface Transport {
  /** Names topics that are to exist; `start` creates those that are missing. */
  declare(topics: readonly Topic[]): void;
  subscribe(subscription: Subscription): void;
  /** Called after all `declare` and `subscribe`. Does not wait for a broker that is away: `check` throws meanwhile. */
  start(): Promise<void>;
  publish(messages: readonly Message[]): Promise<PublishResult>;
  /** Throws while the broker cannot be reached, or a subscriber has not joined its group yet. */
  check(): Promise<void>;
  /** How far the subscribers of this process are behind. Absent where a transport keeps no events. */
  lag?(): Promise<readonly Lag[]>;
  /** What the subscribers of this process have missed since it started. Absent where a transport deletes nothing. */
  missed?(): readonly Missed[];
  /** Stops deliveries; events that are being handled are finished. Publishing is possible until `close`. */
  stopConsuming(): Promise<void>;
  close(): Promise<void>;
}

/** Names what keeps its order: events with the same ordering key are delivered in the order of their publication. */
export function orderingKeyOf(topic: string, key: string): string {
  return `${topic} ${key}`;
}

export const orderingKey = ({ topic, envelope }: Message) => orderingKeyOf(topic, envelope.key);

/** Messages by ordering key, each in order. */
export function splitByKey(messages: readonly Message[]): Message[][] {
  return [...Map.groupBy(messages, orderingKey).values()];
}

/** Of the messages, in order: each that failed, and what follows it in its key. */
export function messagesLeft(messages: readonly Message[], failures: readonly Failure[]): Message[] {
  if (failures.length === 0) return [];
  const failedIds = new Map(failures.map(({ message }) => [orderingKey(message), message.envelope.event_id]));
  const waitingKeys = new Set<string>();
  return messages.filter((message) => {
    const key = orderingKey(message);
    if (failedIds.get(key) === message.envelope.event_id) waitingKeys.add(key);
    return waitingKeys.has(key);
  });
}

export function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
