import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';
import type { CampaignTarget, Seeker } from '../target/index.ts';

/** A campaign with a live version, as it was frozen. */
export interface LiveCampaign {
  readonly campaign_id: string;
  readonly version: number;
  readonly placed_at: Date | null;
  readonly target: CampaignTarget;
  readonly ads: readonly Seeker[];
}

/** The live campaigns that play on one of the screens, or have an ad for a tag of one of them. */
export async function findConcerned(tx: Sql, accountId: string, screenIds: readonly string[]): Promise<LiveCampaign[]> {
  const { rows } = await sql<LiveCampaign>`
    WITH concerned AS (
      SELECT campaign_id FROM placements WHERE valid_to IS NULL AND screen_id = ANY(${screenIds}::text[])
      UNION
      SELECT live_ads.campaign_id FROM live_ads WHERE live_ads.account_id = ${accountId} AND live_ads.screen_tag IN (
        SELECT unnest(tags) FROM known_screens WHERE account_id = ${accountId} AND id = ANY(${screenIds}::text[])))
    SELECT campaign_id, version.version, campaigns.placed_at, version.snapshot -> 'target' AS target,
      (SELECT json_agg(json_build_object('campaign_ad_id', campaign_ad_id, 'ad_id', ad_id, 'screen_tag', screen_tag))
        FROM live_ads WHERE live_ads.campaign_id = campaigns.id) AS ads
    FROM concerned JOIN campaigns ON campaigns.id = campaign_id
    JOIN campaign_versions AS version USING (campaign_id)
    WHERE version.status = 'live' AND campaigns.account_id = ${accountId}
    ORDER BY campaign_id`.execute(db(tx));
  return rows;
}

/** Writes when a campaign was placed, and on how many screens it is. */
export async function notePlaced(tx: Sql, campaignId: string, at: Date): Promise<void> {
  await sql`
    UPDATE campaigns SET placed_at = ${at}, screen_count = (
      SELECT count(DISTINCT screen_id) FROM placements
      WHERE placements.campaign_id = campaigns.id AND placements.valid_to IS NULL)
    WHERE id = ${campaignId}`.execute(db(tx));
}
