import type { Sql } from '@attribution/database';
import type { Place } from './raw.store.ts';

/** The locations with marks whose time zone is known: first whoever waits longest, last those for whom nobody waits. */
export const findBehind = async (tx: Sql, most: number): Promise<Place[]> =>
  tx.$queryRawUnsafe(
    `SELECT mark.account_id, mark.location_id FROM dirty_hours AS mark
     JOIN known_locations AS known ON known.account_id = mark.account_id AND known.id = mark.location_id
     GROUP BY 1, 2 ORDER BY min(mark.marked_at) LIMIT $1`,
    most,
  );

/** Makes a location ours until the end of the transaction. False, at once, if another worker has it. */
export async function claimLocation(tx: Sql, { account_id, location_id }: Place): Promise<boolean> {
  const [row] = await tx.$queryRawUnsafe<{ held: boolean }[]>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 4)) AS held',
    `recompute ${account_id} ${location_id}`,
  );
  return row?.held === true;
}

export async function findTimeZone(tx: Sql, { account_id, location_id }: Place): Promise<string | undefined> {
  const [known] = await tx.$queryRawUnsafe<{ timezone: string }[]>(
    'SELECT timezone FROM known_locations WHERE account_id = $1 AND id = $2',
    account_id,
    location_id,
  );
  return known?.timezone;
}

/** The marks of how much time are taken at once: a transaction should not last much longer than that of a busy week. */
const stretch = '8 days';

/** An hour whose figures are behind, by its first instant in milliseconds since the epoch; `whole`: all of its day is. */
export interface Mark {
  readonly hour: number;
  readonly whole: boolean;
}

/** Takes marks of a location away, from the oldest one on, and returns their hours in order. `more`: there were others besides. */
export async function takeMarks(
  tx: Sql,
  { account_id, location_id }: Place,
): Promise<{ readonly marks: readonly Mark[]; readonly more: boolean }> {
  const taken = await tx.$queryRawUnsafe<(Mark & { more: boolean })[]>(
    `WITH own AS (
       SELECT hour, marked_at FROM dirty_hours WHERE account_id = $1 AND location_id = $2
     ), first AS (
       SELECT hour AS begin, hour + $3::interval AS "end" FROM own ORDER BY marked_at, hour LIMIT 1
     ), taken AS (
       DELETE FROM dirty_hours USING first
       WHERE account_id = $1 AND location_id = $2 AND hour >= first.begin AND hour < first."end" RETURNING hour, whole
     )
     SELECT (extract(epoch FROM hour) * 1000)::float8 AS hour, bool_or(whole) AS whole,
       EXISTS (SELECT FROM own, first WHERE own.hour < first.begin OR own.hour >= first."end") AS more
     FROM taken GROUP BY 1 ORDER BY 1`,
    account_id,
    location_id,
    stretch,
  );
  return { marks: taken.map(({ hour, whole }) => ({ hour, whole })), more: taken[0]?.more ?? false };
}
