import { type Envelope, event, type ServiceName, type Topic } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import { z } from 'zod';
import { newEvent, type Outbox } from './outbox.ts';
import type { Message } from './transport.ts';

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

const textOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)).slice(0, 2000);

interface DeadLetterRow {
  readonly id: bigint;
  readonly envelope: Envelope;
}

/** The events that a service could not handle, kept and told of. */
export function createDeadLetters(service: ServiceName, outbox: Outbox) {
  return {
    /** Puts an event among them; false when it lies there. */
    async bury(tx: SqlTransaction, { topic, envelope }: Message, cause: unknown, attempts: number): Promise<boolean> {
      const error = textOf(cause);
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
      if (first === 0) return false;
      const data = { consumer: service, account_id: envelope.account_id, topic, error, attempts, envelope };
      const context = { accountId: envelope.account_id, occurredAt: new Date(), traceparent: envelope.traceparent };
      await outbox.append(tx, newEvent(deadLettered(service), data, context));
      return true;
    },

    /** Locks one that somebody asked to be replayed. */
    async takeRequested(tx: SqlTransaction): Promise<DeadLetterRow | undefined> {
      const [letter] = await tx.$queryRawUnsafe<DeadLetterRow[]>(
        `SELECT id, envelope FROM dead_letters WHERE consumer = $1 AND replay_requested_at IS NOT NULL
         ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
        service,
      );
      return letter;
    },

    async remove(tx: SqlTransaction, id: bigint): Promise<void> {
      await tx.$executeRawUnsafe('DELETE FROM dead_letters WHERE id = $1', id);
    },

    /** It failed again, and waits until somebody asks anew. */
    async putBack(tx: SqlTransaction, id: bigint, cause: unknown): Promise<void> {
      await tx.$executeRawUnsafe(
        `UPDATE dead_letters SET replay_requested_at = NULL, attempts = attempts + 1, error = $2, failed_at = now()
         WHERE id = $1`,
        id,
        textOf(cause),
      );
    },
  };
}
