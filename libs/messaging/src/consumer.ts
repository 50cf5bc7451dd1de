import type { ServiceName } from '@attribution/contracts';
import type { Database, SqlTransaction } from '@attribution/database';
import { noTracing, type Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';
import { BatchConsumer } from './batch-consumer.ts';
import { DeadLetterWriter } from './dead-letter-writer.ts';
import { createDeadLetters } from './dead-letters.ts';
import { Effects } from './effects.ts';
import type { EventMetrics } from './event-metrics.ts';
import type { EventHandler } from './handlers.ts';
import type { Outbox } from './outbox.ts';
import { Replay } from './replay.ts';
import { SingleConsumer } from './single-consumer.ts';
import type { Subscription } from './transport.ts';

export interface ConsumerOptions<Tx extends SqlTransaction> {
  readonly service: ServiceName;
  readonly database: Pick<Database<SqlTransaction, Tx>, 'transaction' | 'sqlTransaction' | 'ping'>;
  readonly outbox: Outbox;
  readonly handlers: readonly EventHandler<Tx>[];
  readonly logger: Logger;
  /** Called for each event that becomes a dead letter. */
  readonly onDeadLetter?: () => void;
  readonly metrics?: EventMetrics;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
  /** Milliseconds before the second and each further attempt at an event. Default: 50, 200, 1,000 and 5,000. */
  readonly backoff?: readonly number[];
}

export interface Consumer {
  readonly subscription: Subscription;
  /** Handles the dead letters that an operator asked to be replayed; returns how many succeeded. */
  replay(): Promise<number>;
}

/** Gives the events of other services their effects in this service's database, each once. */
export function createConsumer<Tx extends SqlTransaction>(options: ConsumerOptions<Tx>): Consumer {
  const { service, database, outbox, handlers, logger, metrics, onDeadLetter } = options;
  const { tracing = noTracing, backoff = [50, 200, 1_000, 5_000] } = options;
  const effects = new Effects(service, outbox, handlers);
  const deadLetters = createDeadLetters(service, outbox);
  const writer = new DeadLetterWriter({ database, deadLetters, logger, onDeadLetter });
  const base = { database, effects, logger, tracing, metrics };
  const singles = new SingleConsumer({ ...base, deadLetters: writer, backoff });
  const batches = new BatchConsumer({ ...base, singles });
  const replay = new Replay({ ...base, deadLetters });
  return {
    subscription: {
      group: service,
      topics: [...new Set(handlers.map(({ event }) => event.topic.name))],
      handle: (messages) => batches.handle(messages),
      setAside: (unreadable) => writer.setAside(unreadable),
    },
    replay: () => replay.run(),
  };
}
