import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';

export interface KeptAnswer {
  readonly answer: unknown;
  readonly retrieved_at: Date;
}

export const findAnswer = (tx: Sql, key: string): Promise<KeptAnswer | undefined> =>
  db(tx).selectFrom('upstream_answers').select(['answer', 'retrieved_at']).where('key', '=', key).executeTakeFirst();

interface NewAnswer extends KeptAnswer {
  readonly key: string;
  readonly upstream: string;
  readonly said: unknown;
}

/** Keeps an answer in place of the one before it, or else of the oldest, so that there are never more than `most`. */
export async function keepAnswer(tx: Sql, row: NewAnswer, most: number): Promise<void> {
  const [said, answer] = [JSON.stringify(row.said), JSON.stringify(row.answer)];
  await sql`
    WITH renewed AS (
      UPDATE upstream_answers SET said = ${said}::json, answer = ${answer}::json, retrieved_at = ${row.retrieved_at}
      WHERE key = ${row.key} RETURNING slot
    )
    INSERT INTO upstream_answers (slot, key, upstream, said, answer, retrieved_at)
    SELECT nextval(pg_get_serial_sequence('upstream_answers', 'slot')) % ${most}::bigint,
      ${row.key}, ${row.upstream}, ${said}::json, ${answer}::json, ${row.retrieved_at}
    WHERE NOT EXISTS (SELECT FROM renewed)
    ON CONFLICT (slot) DO UPDATE SET key = excluded.key, upstream = excluded.upstream, said = excluded.said,
      answer = excluded.answer, retrieved_at = excluded.retrieved_at`.execute(db(tx));
}

/** Deletes what a larger number of answers to keep has left. */
export async function deleteSlots(tx: Sql, from: number): Promise<void> {
  await db(tx).deleteFrom('upstream_answers').where('slot', '>=', String(from)).execute();
}

/** How often an upstream may be asked, by all processes together. */
export interface Pace {
  readonly intervalMs: number;
  readonly callsPerDay?: number;
}

/**
 * Books the next request to an upstream. Resolves to the milliseconds to wait before it is sent, or to undefined if they are more than
 * `patienceMs`, or if the day's requests are used up.
 */
export async function bookCall(tx: Sql, name: string, pace: Pace, patienceMs: number): Promise<number | undefined> {
  const { intervalMs, callsPerDay = 2 ** 31 - 1 } = pace;
  const { rows } = await sql<{ wait_ms: number }>`
    INSERT INTO upstreams AS known (name, next_at, day, calls)
    VALUES (${name}, clock_timestamp() + ${intervalMs} * interval '1 ms', (clock_timestamp() AT TIME ZONE 'UTC')::date, 1)
    ON CONFLICT (name) DO UPDATE SET
      next_at = greatest(known.next_at, clock_timestamp()) + ${intervalMs} * interval '1 ms',
      day = excluded.day,
      calls = CASE WHEN known.day = excluded.day THEN known.calls + 1 ELSE 1 END
    WHERE known.next_at <= clock_timestamp() + ${patienceMs} * interval '1 ms'
      AND (known.day <> excluded.day OR known.calls < ${callsPerDay})
    RETURNING (extract(epoch FROM next_at - clock_timestamp()) * 1000 - ${intervalMs})::float8 AS wait_ms`.execute(
    db(tx),
  );
  const [booked] = rows;
  return booked && Math.max(0, booked.wait_ms);
}

/** Nobody asks the upstream before that time, as it wishes. */
export async function postpone(tx: Sql, name: string, byMs: number): Promise<void> {
  await sql`
    UPDATE upstreams SET next_at = greatest(next_at, clock_timestamp() + ${byMs} * interval '1 ms')
    WHERE name = ${name}`.execute(db(tx));
}
