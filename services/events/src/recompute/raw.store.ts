import type { Sql } from '@attribution/database';
import { leavesOut } from '../blacklist/index.ts';
import type { RawPlay, RawVisit } from './day.ts';

export interface Place {
  readonly account_id: string;
  readonly location_id: string;
}

export interface Between {
  readonly from: number;
  readonly to: number;
}

const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`;

/** No item lasts longer, in milliseconds: such ones are in quarantine. */
export const longestMs = 86_400_000;

/** What was on within a stretch of time. */
const within = (begin: string, end: string) => `
  ${begin} >= $3::timestamptz AND ${begin} < $4::timestamptz AND ${end} > $5::timestamptz`;
const valuesOf = ({ account_id, location_id }: Place, { from, to }: Between) => [
  ...[account_id, location_id],
  ...[from - longestMs, to, from].map((instant) => new Date(instant)),
];

/** The visits that were there within a stretch of time; `left_out`: the blacklist does. */
export const findVisits = async (
  tx: Sql,
  place: Place,
  between: Between,
): Promise<(RawVisit & { readonly left_out: boolean })[]> =>
  tx.$queryRawUnsafe(
    `SELECT event_id, visitor_key, zones, ${ms('entered_at')} AS start, ${ms('left_at')} AS "end",
       EXISTS (SELECT FROM blacklist_entries AS entry WHERE ${leavesOut}) AS left_out
     FROM visits AS visit WHERE account_id = $1 AND location_id = $2 AND ${within('entered_at', 'left_at')}`,
    ...valuesOf(place, between),
  );

/** When the visits began that were there at an instant, and had begun before. */
export async function findStillThere(tx: Sql, { account_id, location_id }: Place, at: number): Promise<number[]> {
  const rows = await tx.$queryRawUnsafe<{ start: number }[]>(
    `SELECT DISTINCT ${ms("date_trunc('hour', entered_at, 'UTC')")} AS start FROM visits
     WHERE account_id = $1 AND location_id = $2 AND entered_at >= $3::timestamptz AND entered_at < $4::timestamptz
       AND left_at > $4::timestamptz`,
    account_id,
    location_id,
    new Date(at - longestMs),
    new Date(at),
  );
  return rows.map(({ start }) => start);
}

/** The plays that were on within a stretch of time. */
export const findPlays = async (tx: Sql, place: Place, between: Between): Promise<RawPlay[]> =>
  tx.$queryRawUnsafe(
    `SELECT zone_id, screen_id, campaign_id, version, completed, holdout,
       ${ms('started_at')} AS start, ${ms('ended_at')} AS "end"
     FROM plays WHERE account_id = $1 AND location_id = $2 AND ${within('started_at', 'ended_at')}`,
    ...valuesOf(place, between),
  );
