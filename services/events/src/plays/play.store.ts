import type { Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { Play } from '../generated/kysely/types.ts';
import { type Scope, scopeTables } from '../scope/index.ts';
import { db } from '../store.ts';
import { endOfDay, startOfDay } from '../time/index.ts';

export type PlayRow = Omit<
  Selectable<Play>,
  'account_id' | 'started_at' | 'ended_at' | 'clock_offset_ms' | 'quarantined' | 'item'
> & { readonly started_at: Date; readonly ended_at: Date; readonly clock_offset_ms: number };

interface Wanted {
  readonly before: readonly [startedAt: number, eventId: string] | undefined;
  readonly screenIds: readonly string[] | undefined;
  readonly campaignIds: readonly string[] | undefined;
  readonly holdout: boolean;
  readonly limit: number;
  readonly now: Date;
}

/** As of when the answer is, and the time zones of a scope, with the instants at which its days begin and are over there; null: open. */
async function findBounds(tx: Sql, scope: Scope, now: Date) {
  const { rows } = await sql<{ as_of: Date; timezones: readonly string[] }>`
    WITH ${scopeTables(scope, now)}
    SELECT (SELECT as_of FROM behind), coalesce(json_agg(DISTINCT timezone), '[]') AS timezones FROM known_locations
    WHERE account_id = ${scope.accountId} AND id IN (SELECT id FROM scope)`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('An aggregate has one row');
  const bounds = row.timezones.map((timezone) => ({
    timezone,
    start: scope.from && startOfDay(scope.from, timezone),
    end: scope.to && endOfDay(scope.to, timezone),
  }));
  return { asOf: row.as_of, bounds };
}

/**
 * Where and around when plays of some screens or campaigns were, by their hours, so that not all others are searched for
 * them: by location, days that hold all of them in whatever time zone.
 */
const playedAt = ({ accountId, from, to }: Scope, { holdout, screenIds, campaignIds }: Wanted) => sql`
  SELECT location_id AS id, (min(date) - 2)::timestamptz AS first, (max(date) + 3)::timestamptz AS last FROM play_hours
  WHERE account_id = ${accountId} AND location_id IN (SELECT id FROM scope)
    AND (${from}::date IS NULL OR date >= ${from}::date - 2) AND (${to}::date IS NULL OR date <= ${to}::date + 2)
    AND ${holdout ? sql`held_plays` : sql`plays`} > 0
    AND ${amongOrAny('screen_id', screenIds)} AND ${amongOrAny('campaign_id', campaignIds)}
  GROUP BY 1`;

const everywhere = sql`SELECT id, NULL::timestamptz AS first, NULL::timestamptz AS last FROM scope`;

const amongOrAny = (column: 'screen_id' | 'campaign_id', ids: readonly string[] | undefined) =>
  ids ? sql<boolean>`${sql.ref(column)} = ANY(${ids}::text[])` : sql<boolean>`true`;

/**
 * Plays of a scope, newest first; within a moment by their ids. Each location is read by itself, in the order of its index
 * (held plays have one of their own), so that a page costs the same however many plays there are. Run it in a snapshot.
 */
export async function findPlays(tx: Sql, scope: Scope, wanted: Wanted) {
  const { accountId } = scope;
  const { holdout, screenIds, campaignIds, limit } = wanted;
  const [startedAt, eventId] = wanted.before ?? [null, null];
  const { asOf, bounds } = await findBounds(tx, scope, wanted.now);
  const { rows } = await sql<PlayRow>`
    WITH ${scopeTables(scope, wanted.now)}, played AS MATERIALIZED (
      ${screenIds || campaignIds ? playedAt(scope, wanted) : everywhere}
    ), places AS (
      SELECT id, coalesce(greatest(to_timestamp(start / 1000), first), '-infinity') AS start,
        coalesce(least(to_timestamp("end" / 1000), last), 'infinity') AS "end"
      FROM played JOIN known_locations USING (id)
      JOIN json_to_recordset(${JSON.stringify(bounds)}::json)
        AS bounds(timezone text, start float8, "end" float8) USING (timezone)
      WHERE account_id = ${accountId}
    )
    SELECT newest.* FROM places CROSS JOIN LATERAL (
      SELECT event_id, device_id, location_id, zone_id, screen_id, campaign_id, campaign_ad_id, version, started_at,
        ended_at, completed, holdout, received_at, clock_offset_ms::float8
      FROM plays
      WHERE account_id = ${accountId} AND location_id = places.id AND quarantined IS NULL AND holdout = ${sql.lit(holdout)}
        AND started_at >= places.start AND started_at < places.end
        AND (started_at, event_id) < (
          coalesce(to_timestamp(${startedAt}::float8 / 1000), 'infinity'),
          coalesce(${eventId}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        AND ${amongOrAny('screen_id', screenIds)} AND ${amongOrAny('campaign_id', campaignIds)}
      ORDER BY started_at DESC, event_id DESC LIMIT ${limit}
    ) AS newest
    ORDER BY started_at DESC, event_id DESC LIMIT ${limit}`.execute(db(tx));
  return { asOf, rows };
}
