import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { Ad, Analysis, CampaignAd, MediaAsset } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

/** A campaign ad with its ad, and with the asset as it was found. */
export type PlannedAd = Selectable<CampaignAd> &
  Pick<Selectable<Ad>, 'name' | 'media_asset_id' | 'duration_ms' | 'fit' | 'muted' | 'click_through'> &
  Pick<Selectable<MediaAsset>, 'kind' | 'probe' | 'sha256' | 'size_bytes' | 'poster_key'> & {
    readonly technical: Selectable<Analysis>['technical'] | null;
  };

const plannedAdsOf = (tx: Sql, campaignId: string) =>
  db(tx)
    .selectFrom('campaign_ads')
    .innerJoin('ads', 'ads.id', 'campaign_ads.ad_id')
    .innerJoin('media_assets', 'media_assets.id', 'ads.media_asset_id')
    .leftJoin('analyses', 'analyses.media_asset_id', 'ads.media_asset_id')
    .where('campaign_ads.campaign_id', '=', campaignId)
    .selectAll('campaign_ads')
    .select(['ads.name', 'ads.media_asset_id', 'ads.duration_ms', 'ads.fit', 'ads.muted', 'ads.click_through'])
    .select(['media_assets.kind', 'media_assets.probe', 'media_assets.sha256', 'media_assets.size_bytes'])
    .select(['media_assets.poster_key', 'analyses.technical'])
    .orderBy('campaign_ads.position')
    .orderBy('campaign_ads.id');

/** By position and id. */
export const findPlannedAds = (tx: Sql, campaignId: string): Promise<PlannedAd[]> =>
  plannedAdsOf(tx, campaignId).execute();

/** The same, and neither an ad nor its place changes until the commit. */
export const lockAdsOf = (tx: Sql, campaignId: string): Promise<PlannedAd[]> =>
  plannedAdsOf(tx, campaignId).forShare(['campaign_ads', 'ads']).execute();
