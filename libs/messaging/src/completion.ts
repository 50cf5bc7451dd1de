import type { Envelope, EventData, EventType } from '@attribution/contracts';
import type { PoolClient } from 'pg';
import { type EventContext, messageOf, type NewEvent } from './outbox.ts';
import type { Message } from './transport.ts';

type Connection = Pick<PoolClient, 'query'>;

/** An event as the outbox keeps it that is appended by reference. */
export type Reference<R> = Omit<Envelope, 'data'> & { readonly data: R };

/**
 * How events of a type are completed. The outbox keeps only a reference to the rows that such an event is about, and the
 * relay reads these rows when it publishes, so that large events are not written twice. The rows must neither change nor be
 * deleted while events wait.
 */
export interface Completion {
  readonly event: EventType;
  /** Reads the data of events, in the order of the references. */
  read(connection: Connection, references: readonly Envelope[]): Promise<readonly Envelope['data'][]>;
}

interface EventByReference<R> extends Completion {
  /** An event that is about to be appended. The reference has what the event's key is made of. */
  refer(reference: R, context: EventContext): NewEvent;
}

/** Declares an event that is appended by reference. The service lists it in its definition, as one of its `completions`. */
export const byReference = <T extends EventType, R extends Envelope['data']>(
  event: T,
  read: (connection: Connection, references: readonly Reference<R>[]) => Promise<readonly EventData<T>[]>,
): EventByReference<R> => ({
  event,
  read: (connection, references) => read(connection, references as readonly Reference<R>[]),
  refer: (reference, context) => messageOf(event, reference, context),
});

/** Completes the references among the messages. What a former release has appended whole is published as it is, like all others. */
export async function completeMessages(
  connection: Connection,
  messages: readonly Message[],
  completions: readonly Completion[],
): Promise<readonly Message[]> {
  const completed = [...messages];
  for (const { event, read } of completions) {
    const own = [...messages.entries()].filter(
      ([, { envelope }]) => envelope.type === event.type && !event.data.safeParse(envelope.data).success,
    );
    if (own.length === 0) continue;
    const data = await read(
      connection,
      own.map(([, { envelope }]) => envelope),
    );
    for (const [n, [at, { topic, envelope }]] of own.entries())
      completed[at] = { topic, envelope: { ...envelope, data: data[n] ?? envelope.data } };
  }
  return completed;
}
