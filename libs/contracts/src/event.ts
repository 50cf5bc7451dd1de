import { z } from 'zod';
import type { Topic } from './topic.ts';
import { Timestamp } from './wire/formats.ts';
import { id } from './wire/ids.ts';

/** The contract of an event. Events with the same `key` are delivered in order. */
export interface EventType<D extends z.ZodObject = z.ZodObject> {
  readonly type: string;
  readonly topic: Topic;
  readonly version: number;
  readonly key: (data: z.output<D>) => string;
  readonly data: D;
}

export function event<D extends z.ZodObject>(definition: EventType<D>): EventType<D> {
  return definition;
}

/** The envelope of every event. `data` is checked against the event's own schema. */
export const Envelope = z.object({
  event_id: z.uuid(),
  type: z.string(),
  version: z.int().min(1),
  account_id: id('account'),
  key: z.string().min(1),
  occurred_at: Timestamp,
  /** The W3C trace context of the request that caused the event, if there was one. */
  traceparent: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type Envelope = z.output<typeof Envelope>;

export type EventData<T extends EventType> = z.output<T['data']>;
