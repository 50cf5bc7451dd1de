import {
  type Envelope,
  type EventData,
  type EventType,
  event,
  type ServiceName,
  type Topic,
} from '@attribution/contracts';
import type { Database, SqlTransaction } from '@attribution/database';
import type { Logger } from 'pino';
import { z } from 'zod';
import { newEvent, type Outbox } from './outbox.ts';
import type { Message, Subscription } from './transport.ts';

/** An event as a handler sees it. */
export interface Received<T extends EventType> {
  readonly id: string;
  readonly accountId: string;
  readonly occurredAt: Date;
  readonly traceparent: string | null;
  readonly data: EventData<T>;
}

/** One kind of event and its effect on this service's database. */
export interface EventHandler<Tx> {
  readonly event: EventType;
  readonly handle: (tx: Tx, event: Received<EventType>) => Promise<void>;
}

/** Declares a handler. It runs in the transaction that marks the event as done, so it touches this database alone. */
export function on<T extends EventType, Tx>(
  eventType: T,
  handle: (tx: Tx, event: Received<T>) => Promise<void>,
): EventHandler<Tx> {
  return { event: eventType, handle: handle as EventHandler<Tx>['handle'] };
}

/** The topic that tells of events a service could not handle. */
export function deadLetterTopic(service: ServiceName): Topic {
  return { name: `${service}.dead-letters`, owner: service, partitions: 1 };
}

const deadLettered = (service: ServiceName) =>
  event({
    type: 'event.dead_lettered',
    topic: deadLetterTopic(service),
    version: 1,
    key: (data) => data.account_id,
    data: z.object({
      consumer: z.string(),
      account_id: z.string(),
      topic: z.string(),
      error: z.string(),
      attempts: z.int(),
      envelope: z.record(z.string(), z.unknown()),
    }),
  });

export interface ConsumerOptions<Tx extends SqlTransaction> {
  readonly service: ServiceName;
  readonly database: Pick<Database<SqlTransaction, Tx>, 'transaction' | 'ping'>;
  readonly outbox: Outbox;
  readonly handlers: readonly EventHandler<Tx>[];
  readonly logger: Logger;
  /** Told of each event that was given up. */
  readonly onDeadLetter?: () => void;
  /** Milliseconds before the second and each further attempt. */
  readonly backoff?: readonly number[];
}

export interface Consumer {
  readonly subscription: Subscription;
  /** Handles the dead letters that somebody asked to be replayed; returns how many succeeded. */
  replay(): Promise<number>;
}

const defaultBackoff = [50, 200, 1_000, 5_000];

export function createConsumer<Tx extends SqlTransaction>(options: ConsumerOptions<Tx>): Consumer {
  const { service, database, outbox, handlers, logger, backoff = defaultBackoff } = options;

  const handlersOf = ({ type, version }: Envelope) =>
    handlers.filter((h) => h.event.type === type && h.event.version === version);

  /** The effect, and the mark that it took place, in the caller's transaction. */
  async function effect(tx: Tx, envelope: Envelope): Promise<void> {
    const first = await tx.$executeRawUnsafe(
      'INSERT INTO inbox (consumer, event_id) VALUES ($1, $2::uuid) ON CONFLICT DO NOTHING',
      service,
      envelope.event_id,
    );
    if (first === 0) return;
    for (const { event: eventType, handle } of handlersOf(envelope)) {
      await handle(tx, {
        id: envelope.event_id,
        accountId: envelope.account_id,
        occurredAt: new Date(envelope.occurred_at),
        traceparent: envelope.traceparent,
        data: eventType.data.parse(envelope.data) as never,
      });
    }
  }

  async function handle(message: Message): Promise<void> {
    const { envelope } = message;
    if (handlersOf(envelope).length === 0) return; // On the topic, but nothing to this service.
    for (let attempt = 1; ; attempt++) {
      try {
        return await database.transaction((tx) => effect(tx, envelope));
      } catch (error) {
        // Without a database nothing can be said of the event: the transport brings it again.
        await database.ping();
        const wait = error instanceof z.ZodError ? undefined : backoff[attempt - 1];
        if (wait === undefined) return bury(message, error, attempt);
        logger.warn(
          { err: error, event_id: envelope.event_id, type: envelope.type, attempt },
          'An event failed; trying again',
        );
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  async function bury({ topic, envelope }: Message, cause: unknown, attempts: number): Promise<void> {
    const error = (cause instanceof Error ? cause.message : String(cause)).slice(0, 2000);
    await database.transaction(async (tx) => {
      const first = await tx.$executeRawUnsafe(
        `INSERT INTO dead_letters (consumer, event_id, topic, envelope, attempts, error)
         VALUES ($1, $2::uuid, $3, $4::jsonb, $5, $6) ON CONFLICT DO NOTHING`,
        service,
        envelope.event_id,
        topic,
        JSON.stringify(envelope),
        attempts,
        error,
      );
      if (first === 0) return;
      const data = { consumer: service, account_id: envelope.account_id, topic, error, attempts, envelope };
      const context = { accountId: envelope.account_id, occurredAt: new Date(), traceparent: envelope.traceparent };
      await outbox.append(tx, newEvent(deadLettered(service), data, context));
    });
    logger.error(
      { event_id: envelope.event_id, type: envelope.type, attempts, error },
      'An event lies among the dead letters',
    );
    options.onDeadLetter?.();
  }

  /** One letter in one transaction: gone with its effect done, or still there with its new error. */
  async function replayOne(): Promise<'done' | 'failed' | 'none'> {
    let letter: DeadLetterRow | undefined;
    try {
      return await database.transaction(async (tx) => {
        [letter] = await tx.$queryRawUnsafe<DeadLetterRow[]>(
          `SELECT id, envelope FROM dead_letters WHERE consumer = $1 AND replay_requested_at IS NOT NULL
           ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
          service,
        );
        if (!letter) return 'none';
        await effect(tx, letter.envelope);
        await tx.$executeRawUnsafe('DELETE FROM dead_letters WHERE id = $1', letter.id);
        return 'done';
      });
    } catch (error) {
      if (!letter) throw error;
      const { id } = letter;
      const text = (error instanceof Error ? error.message : String(error)).slice(0, 2000);
      await database.transaction((tx) =>
        Promise.resolve(
          tx.$executeRawUnsafe(
            `UPDATE dead_letters SET replay_requested_at = NULL, attempts = attempts + 1, error = $2, failed_at = now()
             WHERE id = $1`,
            id,
            text,
          ),
        ),
      );
      return 'failed';
    }
  }

  return {
    subscription: { group: service, topics: [...new Set(handlers.map((h) => h.event.topic.name))], handle },
    async replay() {
      let done = 0;
      for (let outcome = await replayOne(); outcome !== 'none'; outcome = await replayOne()) {
        if (outcome === 'done') done++;
      }
      return done;
    },
  };
}

interface DeadLetterRow {
  readonly id: bigint;
  readonly envelope: Envelope;
}
