import type { Sql } from '@attribution/database';
import { type RawBuilder, sql } from 'kysely';
import { db } from '../store.ts';
import type { Reached, ReachSummary } from '../target/index.ts';

/** A live version that is being placed. */
export interface Placing {
  readonly accountId: string;
  readonly campaignId: string;
  readonly version: number;
  /** The instant of all that is opened and closed: later than any before. */
  readonly at: Date;
  readonly by: 'publish' | 'estate';
}

export interface Placed {
  readonly opened: number;
  readonly closed: number;
  /** Live ones whose screen is now in another location or group. Their interval goes on. */
  readonly moved: number;
  /** Distinct screens in the reach. */
  readonly screens: number;
}

interface Options<More> {
  /** Only on these screens, of which alone the reach is then. */
  readonly among?: readonly string[];
  /** What to say about the reach that is placed. */
  readonly summary?: ReachSummary<More>;
}

/**
 * Makes the live placements of a campaign those of the reach: gone pairs are closed, new ones opened, all others keep their
 * row. One statement reads the reach, places it and sums it up, so that all are of one moment.
 */
export async function place<More = object>(
  tx: Sql,
  { accountId, campaignId, version, at, by }: Placing,
  reach: RawBuilder<Reached>,
  { among, summary }: Options<More> = {},
): Promise<Placed & More> {
  const onThese = among ? sql`AND screen_id IN (SELECT unnest(${among}::text[]))` : sql``;
  const isLive = sql`old.campaign_id = ${campaignId} AND old.screen_id = live.screen_id
        AND old.campaign_ad_id = live.campaign_ad_id AND old.valid_from = live.valid_from`;
  const { rows } = await sql<Placed & More>`
    WITH reach AS MATERIALIZED (${reach})${summary?.queries ?? sql``},
    live AS MATERIALIZED (
      SELECT screen_id, campaign_ad_id, valid_from, location_id, group_id FROM placements
      WHERE campaign_id = ${campaignId} AND valid_to IS NULL ${onThese}),
    closed AS (
      UPDATE placements AS old SET valid_to = ${at}, closed_by = ${by} FROM live
      WHERE ${isLive} AND NOT EXISTS (SELECT FROM reach
        WHERE reach.campaign_ad_id = live.campaign_ad_id AND reach.screen_id = live.screen_id)
      RETURNING 1),
    moved AS (
      UPDATE placements AS old SET location_id = reach.location_id, group_id = reach.group_id
      FROM live JOIN reach USING (screen_id, campaign_ad_id)
      WHERE ${isLive} AND (reach.location_id, reach.group_id) IS DISTINCT FROM (live.location_id, live.group_id)
      RETURNING 1),
    opened AS (
      INSERT INTO placements (account_id, campaign_id, campaign_ad_id, ad_id, screen_id, location_id, group_id, screen_tag,
        version, valid_from)
      SELECT ${accountId}, ${campaignId}, campaign_ad_id, ad_id, screen_id, location_id, group_id, screen_tag,
        ${version}::int, ${at}::timestamptz
      FROM reach WHERE NOT EXISTS (SELECT FROM live
        WHERE live.campaign_ad_id = reach.campaign_ad_id AND live.screen_id = reach.screen_id)
      RETURNING 1)
    SELECT (SELECT count(*) FROM opened)::int AS opened, (SELECT count(*) FROM closed)::int AS closed,
      (SELECT count(*) FROM moved)::int AS moved, (SELECT count(DISTINCT screen_id) FROM reach)::int AS screens
      ${summary ? sql`, ${summary.columns}` : sql``}`.execute(db(tx));
  const [placed] = rows;
  if (!placed) throw new Error('The statement of placing always returns one row');
  return placed;
}

/** Closes all that is live of a campaign; returns how many. */
export async function closeAll(tx: Sql, campaignId: string, at: Date): Promise<number> {
  const { numUpdatedRows } = await db(tx)
    .updateTable('placements')
    .set({ valid_to: at, closed_by: 'archive' })
    .where('campaign_id', '=', campaignId)
    .where('valid_to', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
