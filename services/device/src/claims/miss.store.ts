import type { Sql } from '@attribution/database';

/** A fixed window, opened by the first code that is wrong. */
export const missWindow = { seconds: 15 * 60, limit: 10 } as const;

interface Window {
  readonly misses: number;
  readonly opened_at: Date;
}

const opensBefore = (now: Date) => new Date(now.getTime() - missWindow.seconds * 1000);

/** The window of an account that is open now. */
export async function openWindow(sql: Sql, accountId: string, now: Date): Promise<Window | undefined> {
  const [row] = await sql.$queryRaw<Window[]>`
    SELECT misses, opened_at FROM claim_misses WHERE account_id = ${accountId} AND opened_at > ${opensBefore(now)}`;
  return row;
}

/** Counts a wrong code, and returns the window with it. */
export async function countMiss(sql: Sql, accountId: string, now: Date): Promise<Window> {
  const [row] = await sql.$queryRaw<[Window]>`
    INSERT INTO claim_misses AS m (account_id, opened_at, misses) VALUES (${accountId}, ${now}, 1)
    ON CONFLICT (account_id) DO UPDATE SET
      misses = CASE WHEN m.opened_at > ${opensBefore(now)} THEN m.misses + 1 ELSE 1 END,
      opened_at = CASE WHEN m.opened_at > ${opensBefore(now)} THEN m.opened_at ELSE excluded.opened_at END
    RETURNING misses, opened_at`;
  return row;
}

export const missWindowMs = missWindow.seconds * 1000;
