import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { db } from '../store.ts';
import { convertedTable, judgedTable } from './conversion.store.ts';
import type { Conversion } from './conversion.ts';

export interface PerformanceRow {
  readonly as_of: Date;
  readonly plays: number;
  readonly completed_plays: number;
  readonly play_ms: number;
  readonly screens: number;
  readonly locations: number;
  readonly opportunities_to_see: number;
  readonly exposed_visits: number;
  readonly exposed_visitors: number;
  readonly mean_exposure_ms: number | null;
  readonly ripe_visits: number;
  readonly converted_visits: number;
  readonly pending_visits: number;
}

/** Plays of the hours in which they began, and exposures and pairs of the days on which each was met. */
export async function measurePerformance(
  tx: Sql,
  scope: Scope,
  { campaignId, conversion, now }: { campaignId: string; conversion: Conversion; now: Date },
): Promise<PerformanceRow> {
  const { accountId } = scope;
  const own = sql`campaign_id = ${campaignId} AND location_id IN (SELECT id FROM scope)`;
  const { rows } = await sql<PerformanceRow>`
    WITH ${scopeTables(scope, now)}, played AS (
      SELECT coalesce(sum(plays), 0)::float8 AS plays,
        coalesce(sum(completed_plays), 0)::float8 AS completed_plays,
        coalesce(sum(play_ms), 0)::float8 AS play_ms,
        count(DISTINCT screen_id)::float8 AS screens,
        count(DISTINCT location_id)::float8 AS locations
      FROM play_hours WHERE account_id = ${accountId} AND ${own} AND ${inRange(sql.ref('date'), scope)} AND plays > 0
    ), met AS (
      SELECT coalesce(sum(pairs), 0)::float8 AS opportunities_to_see
      FROM meeting_facts WHERE account_id = ${accountId} AND ${own} AND ${inRange(sql.ref('met_date'), scope)} AND NOT held
    ), units AS (
      SELECT visitor_key, location_id, event_id, exposure_ms, first_at AS met_at, left_at
      FROM exposure_facts WHERE account_id = ${accountId} AND ${own} AND ${inRange(sql.ref('first_date'), scope)}
    ), ${judgedTable(conversion)}, ${convertedTable(scope, conversion)}, exposed AS (
      SELECT count(*)::float8 AS exposed_visits,
        count(DISTINCT visitor_key)::float8 AS exposed_visitors,
        div(2 * sum(exposure_ms) + count(*), nullif(2 * count(*), 0))::float8 AS mean_exposure_ms,
        count(*) FILTER (WHERE ripe)::float8 AS ripe_visits,
        count(*) FILTER (WHERE NOT ripe)::float8 AS pending_visits
      FROM judged
    )
    SELECT (SELECT as_of FROM behind), played.*, met.*, exposed.*,
      (SELECT count(*) FROM converted)::float8 AS converted_visits
    FROM played, met, exposed`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('An aggregate has one row');
  return row;
}
