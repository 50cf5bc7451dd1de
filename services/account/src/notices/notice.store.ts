import type { Forgettable } from '@attribution/service';
import type { Tx } from '../store.ts';

export async function findAddressee(tx: Tx, userId: string) {
  return tx.user.findUnique({ where: { id: userId }, select: { email: true, full_name: true } });
}

/**
 * Remembers the range. Returns true when the user has signed in before, and never from it; of concurrent sign-ins from a
 * new range one gets true.
 */
export async function rememberRange(tx: Tx, userId: string, range: string, now: Date): Promise<boolean> {
  const [seen] = await tx.$queryRaw<{ from_elsewhere: boolean }[]>`
    WITH remembered AS (
      INSERT INTO sign_in_ranges (user_id, range, last_seen_at) VALUES (${userId}, ${range}, ${now})
      ON CONFLICT (user_id, range) DO UPDATE SET last_seen_at = GREATEST(sign_in_ranges.last_seen_at, excluded.last_seen_at)
      RETURNING xmax = 0 AS is_new)
    SELECT is_new AND EXISTS (SELECT FROM sign_in_ranges WHERE user_id = ${userId}) AS from_elsewhere FROM remembered`;
  return seen?.from_elsewhere ?? false;
}

/** The latest range of a user stays: without it the next one would count as that of the first sign-in. */
export const unusedRanges = {
  table: 'sign_in_ranges',
  condition: `last_seen_at < $1 AND EXISTS (
    SELECT FROM sign_in_ranges AS later
    WHERE later.user_id = sign_in_ranges.user_id AND later.last_seen_at > sign_in_ranges.last_seen_at)`,
} satisfies Forgettable;
