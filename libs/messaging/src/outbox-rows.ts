import type { Envelope } from '@attribution/contracts';
import type { PoolClient } from 'pg';
import type { Failure, Message } from './transport.ts';

export interface OutboxRow extends Envelope {
  readonly sequence: string;
  readonly topic: string;
}

interface Step {
  /** Sequences of rows that were published: they are deleted. */
  readonly published: readonly string[];
  /** Sequences of rows that are being published: they are not read again. */
  readonly inFlight?: readonly string[];
  /** Ordering keys whose rows are not read. */
  readonly blocked: readonly string[];
  /** Rows to read, at most. */
  readonly limit: number;
}

/**
 * Reads always from the lowest sequence: one that was drawn early may be committed late, so that a mark of how far was
 * read would pass over rows, and let the next events of their keys go first.
 */
const deleteAndRead = `
  WITH published AS (DELETE FROM outbox WHERE sequence = ANY($1::bigint[]))
  SELECT sequence, topic, event_id, type, version, account_id, key, traceparent, data,
         to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS occurred_at
  FROM outbox
  WHERE sequence <> ALL($2::bigint[]) AND (cardinality($3::text[]) = 0 OR topic || ' ' || key <> ALL($3::text[]))
  ORDER BY sequence LIMIT $4`;

/** Deletes what was published and reads what comes next, in one round trip. */
export async function stepOutbox(client: PoolClient, step: Step): Promise<OutboxRow[]> {
  const { published, inFlight = [], blocked, limit } = step;
  const values = [published, [...published, ...inFlight], blocked, limit];
  const { rows } = await client.query<OutboxRow>({ name: 'relay', text: deleteAndRead, values });
  return rows;
}

const noteFailures = `
  UPDATE outbox SET attempts = attempts + 1, last_error = failed.error
  FROM unnest($1::uuid[], $2::text[]) AS failed (id, error) WHERE outbox.event_id = failed.id`;

/** Records failed attempts in the events' rows, for the operators. */
export async function recordFailures(client: PoolClient, failures: readonly Failure[]): Promise<void> {
  await client.query(noteFailures, [
    failures.map(({ message }) => message.envelope.event_id),
    failures.map(({ error }) => error.message.slice(0, 1000)),
  ]);
}

export function toMessage(row: OutboxRow): Message {
  const { topic, event_id, type, version, account_id, key, occurred_at, traceparent, data } = row;
  return { topic, envelope: { event_id, type, version, account_id, key, occurred_at, traceparent, data } };
}
