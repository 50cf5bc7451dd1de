import type { ServiceName, Topic } from '@attribution/contracts';
import type { Database, SqlTransaction } from '@attribution/database';
import {
  createConsumer,
  deadLetterTopic,
  type EventHandler,
  type Outbox,
  observeBroker,
  observeEvents,
  observeMessaging,
  type Transport,
} from '@attribution/messaging';
import type { Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';

interface MessagingOptions<Tx extends SqlTransaction> {
  readonly name: ServiceName;
  readonly registry: Registry;
  readonly transport: Transport;
  readonly database: Database<SqlTransaction, Tx>;
  readonly outbox: Outbox;
  /** The topics that this service writes to. */
  readonly publishes: readonly Topic[];
  readonly handlers: readonly EventHandler<Tx>[];
  readonly logger: Logger;
  readonly tracing: Tracing;
}

/** Subscribes to the events that a service handles, declares the topics of both directions, and measures them and the outbox. */
export function openMessaging<Tx extends SqlTransaction>(options: MessagingOptions<Tx>) {
  const { name, registry, transport, database, outbox, publishes, handlers, logger, tracing } = options;
  const metrics = observeMessaging(registry, name, database.pool);
  const broker = observeBroker(registry, name, transport);
  const consumer = createConsumer<Tx>({
    ...{ service: name, database, outbox, handlers, logger, tracing },
    metrics: observeEvents(registry, name, handlers),
    onDeadLetter: metrics.countDeadLetter,
  });
  transport.declare([...publishes, deadLetterTopic(name), ...handlers.map((handler) => handler.event.topic)]);
  if (handlers.length > 0) transport.subscribe(consumer.subscription);
  return {
    /** Before metrics are written out. */
    refreshes: [metrics.refresh, broker.refresh],
    /** Handles again the dead letters that somebody asked for. */
    replay: async () => void (await consumer.replay()),
  };
}
