import { event, type ServiceName, type Topic, topic } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import { messageOf } from '@attribution/runtime';
import { z } from 'zod';
import { type Letter, letterOf, letterOfUnreadable, publishedPartOf, storable } from './letter.ts';
import { newEvent, type Outbox } from './outbox.ts';
import type { Message } from './transport.ts';
import type { Unreadable } from './unreadable.ts';

/** The topic on which a service reports the events that it could not handle. */
export function deadLetterTopic(service: ServiceName): Topic {
  return topic({ name: `${service}.dead-letters`, owner: service, partitions: 1, retentionDays: 28 });
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

const textOf = (cause: unknown) => storable((cause instanceof Error ? messageOf(cause) : String(cause)).slice(0, 2000));

interface DeadLetterRow {
  readonly id: bigint;
  readonly topic: string;
  /** Written by `letterOf`, or an envelope by earlier releases. */
  readonly letter: unknown;
}

interface NewDeadLetter {
  readonly id: string;
  readonly topic: string;
  readonly letter: Letter;
  readonly attempts: number;
  readonly error: string;
}

export type DeadLetters = ReturnType<typeof createDeadLetters>;

/** The events that a service could not handle: stored, and reported on a topic. */
export function createDeadLetters(service: ServiceName, outbox: Outbox) {
  async function insert(tx: SqlTransaction, { id, topic, letter, attempts, error }: NewDeadLetter): Promise<boolean> {
    const first = await tx.$executeRawUnsafe(
      `INSERT INTO dead_letters (consumer, event_id, topic, envelope, attempts, error)
       VALUES ($1, $2::uuid, $3, $4::jsonb, $5, $6) ON CONFLICT DO NOTHING`,
      service,
      id,
      topic,
      JSON.stringify(letter),
      attempts,
      error,
    );
    return first > 0;
  }

  return {
    /** Stores an event; false when it is stored already. */
    async bury(tx: SqlTransaction, { topic, envelope }: Message, cause: unknown, attempts: number): Promise<boolean> {
      const error = textOf(cause);
      const letter = letterOf(envelope);
      if (!(await insert(tx, { id: envelope.event_id, topic, letter, attempts, error }))) return false;
      const data = {
        consumer: service,
        account_id: envelope.account_id,
        topic,
        error,
        attempts,
        envelope: publishedPartOf(letter),
      };
      const traceparent = envelope.traceparent && storable(envelope.traceparent);
      const context = { accountId: envelope.account_id, occurredAt: new Date(), traceparent };
      await outbox.append(tx, newEvent(deadLettered(service), data, context));
      return true;
    },

    /** Stores what is no event; false when it is stored already. It is not reported: that would need its account. */
    setAside(tx: SqlTransaction, unreadable: Unreadable): Promise<boolean> {
      const { id, topic, reason } = unreadable;
      return insert(tx, { id, topic, letter: letterOfUnreadable(unreadable), attempts: 1, error: textOf(reason) });
    },

    /** Locks one that an operator asked to be replayed. */
    async takeRequested(tx: SqlTransaction): Promise<DeadLetterRow | undefined> {
      const [letter] = await tx.$queryRawUnsafe<DeadLetterRow[]>(
        `SELECT id, topic, envelope AS letter FROM dead_letters WHERE consumer = $1 AND replay_requested_at IS NOT NULL
         ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
        service,
      );
      return letter;
    },

    async remove(tx: SqlTransaction, id: bigint): Promise<void> {
      await tx.$executeRawUnsafe('DELETE FROM dead_letters WHERE id = $1', id);
    },

    /** It failed again, and waits for the next request. */
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
