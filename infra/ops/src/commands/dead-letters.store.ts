import type pg from 'pg';

export interface Letter {
  readonly id: string;
  readonly failed_at: Date;
  readonly topic: string;
  readonly type: string;
  readonly event_id: string;
  readonly attempts: number;
  readonly error: string;
  /** Somebody asked for it to be handled again, and it has not been yet. */
  readonly waits: boolean;
}

const columns = `id, failed_at, topic, envelope->>'type' AS type, event_id, attempts, error,
  replay_requested_at IS NOT NULL AS waits`;

/** How many there are of each type, the most first. */
export async function countByType(pool: pg.Pool): Promise<{ type: string; count: number }[]> {
  const { rows } = await pool.query<{ type: string; count: number }>(
    `SELECT envelope->>'type' AS type, count(*)::int AS count FROM dead_letters GROUP BY 1 ORDER BY 2 DESC, 1`,
  );
  return rows;
}

/** The oldest, or those with the ids. */
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
 * Asks for letters to be handled again: the service does that by its own code, in one transaction with the letter's
 * end. One that was asked for before keeps its place; one that is handled at this moment may be gone afterwards.
 */
export async function requestReplay(pool: pg.Pool, ids: readonly string[]): Promise<void> {
  await pool.query(
    'UPDATE dead_letters SET replay_requested_at = coalesce(replay_requested_at, now()) WHERE id = ANY($1::bigint[])',
    [ids],
  );
}
