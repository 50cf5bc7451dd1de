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
  /** The topics that this service publishes to. */
  readonly publishes: readonly Topic[];
  readonly handlers: readonly EventHandler<Tx>[];
  readonly logger: Logger;
  readonly tracing: Tracing;
}

/** Subscribes to the events that a service handles, declares the topics that it reads and writes, and registers metrics. */
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
    /** Called before metrics are written out. */
    refreshes: [metrics.refresh, broker.refresh],
    /** Handles the dead letters again that an operator has marked for replay. */
    replay: async () => void (await consumer.replay()),
  };
}
