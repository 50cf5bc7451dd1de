import type { Sql } from '@attribution/database';
import { type Selectable, sql } from 'kysely';
import type { CampaignVersion } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

export type VersionRow = Selectable<CampaignVersion>;

/** Newest first. */
export function findVersions(
  tx: Sql,
  campaignId: string,
  page: { readonly limit: number; readonly before: number | undefined },
): Promise<VersionRow[]> {
  let versions = db(tx).selectFrom('campaign_versions').where('campaign_id', '=', campaignId);
  if (page.before !== undefined) versions = versions.where('version', '<', page.before);
  return versions.selectAll().orderBy('version', 'desc').limit(page.limit).execute();
}

export const findVersion = (tx: Sql, campaignId: string, version: number): Promise<VersionRow | undefined> =>
  db(tx)
    .selectFrom('campaign_versions')
    .where('campaign_id', '=', campaignId)
    .where('version', '=', version)
    .selectAll()
    .executeTakeFirst();

export async function insertVersion(
  tx: Sql,
  { snapshot, validation, ...columns }: Omit<VersionRow, 'status' | 'ended_at'>,
): Promise<void> {
  const json = { snapshot: JSON.stringify(snapshot) as never, validation: JSON.stringify(validation) as never };
  await db(tx)
    .insertInto('campaign_versions')
    .values({ ...columns, ...json, status: 'live' })
    .execute();
}

/** Ends the live version, if there is one, and forgets what it plays. */
export async function endLiveVersion(
  tx: Sql,
  campaignId: string,
  status: 'superseded' | 'closed',
  at: Date,
): Promise<void> {
  await sql`
    WITH ended AS (
      UPDATE campaign_versions SET status = ${status}::"VersionStatus", ended_at = ${at}
      WHERE campaign_id = ${campaignId} AND status = 'live')
    DELETE FROM live_ads WHERE campaign_id = ${campaignId}`.execute(db(tx));
}

/** Notes what the live version plays, from its snapshot and from the rows of its campaign ads. */
export async function insertLiveAds(tx: Sql, campaignId: string, version: number): Promise<void> {
  await sql`
    INSERT INTO live_ads (campaign_ad_id, campaign_id, account_id, version, ad_id, media_asset_id, sha256, size_bytes, mime,
      duration_ms, fit, muted, screen_tag, position, created_at)
    SELECT ad.campaign_ad_id, version.campaign_id, version.account_id, version.version, ad.ad_id, ad.media_asset_id,
      ad.sha256, ad.size_bytes, ad.mime, ad.duration_ms, ad.fit, ad.muted, ad.screen_tag, ad.position, planned.created_at
    FROM campaign_versions AS version
    CROSS JOIN LATERAL jsonb_populate_recordset(NULL::live_ads, version.snapshot -> 'ads') AS ad
    JOIN campaign_ads AS planned ON planned.id = ad.campaign_ad_id
    WHERE version.campaign_id = ${campaignId} AND version.version = ${version}`.execute(db(tx));
}
