import type pg from 'pg';

export interface Letter {
  readonly id: string;
  readonly failed_at: Date;
  readonly topic: string;
  readonly type: string;
  readonly event_id: string;
  readonly attempts: number;
  readonly error: string;
  /** A replay was requested and has not happened yet. */
  readonly waits: boolean;
}

const columns = `id, failed_at, topic, envelope->>'type' AS type, event_id, attempts, error,
  replay_requested_at IS NOT NULL AS waits`;

/** Counts dead letters by event type, the most frequent type first. */
export async function countByType(pool: pg.Pool): Promise<{ type: string; count: number }[]> {
  const { rows } = await pool.query<{ type: string; count: number }>(
    `SELECT envelope->>'type' AS type, count(*)::int AS count FROM dead_letters GROUP BY 1 ORDER BY 2 DESC, 1`,
  );
  return rows;
}

/** Finds dead letters, the oldest first: those with the ids, or all. */
export async function findLetters(
  pool: pg.Pool,
  { ids, limit }: { readonly ids?: readonly string[]; readonly limit?: number },
): Promise<Letter[]> {
  const { rows } = await pool.query<Letter>(
    `SELECT ${columns} FROM dead_letters WHERE $1::bigint[] IS NULL OR id = ANY($1::bigint[]) ORDER BY id LIMIT $2`,
    [ids ?? null, limit ?? null],
  );
  return rows;
}

export async function findEnvelope(pool: pg.Pool, id: string): Promise<unknown> {
  const { rows } = await pool.query<{ envelope: unknown }>('SELECT envelope FROM dead_letters WHERE id = $1', [id]);
  return rows[0]?.envelope;
}

/**
 * Requests a replay. The service's own worker handles the event again and deletes the dead letter in one transaction. A
 * letter that was requested before keeps its place in the queue.
 */
export async function requestReplay(pool: pg.Pool, ids: readonly string[]): Promise<void> {
  await pool.query(
    'UPDATE dead_letters SET replay_requested_at = coalesce(replay_requested_at, now()) WHERE id = ANY($1::bigint[])',
    [ids],
  );
}
