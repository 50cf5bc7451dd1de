import type { Campaign, CampaignAd, CampaignDetail, CampaignSummary } from '@attribution/contracts';
import type { z } from 'zod';
import type { Report } from '../validation/index.ts';
import type { CampaignWithAds } from './campaign.store.ts';
import type { CampaignFields, CampaignRow, ListedCampaign } from './campaign.ts';
import type { PlannedAd } from './planned-ad.store.ts';

/** The signed URL of a stored poster. */
export type PosterUrl = (key: string | null) => string | null;

/** The fields of a row that a request may set. */
export function fieldsOf(row: CampaignRow): CampaignFields {
  const { group_id, name, description, brief, start_date, end_date, priority, metadata, media_asset_id } = row;
  return { group_id, name, description, brief, start_date, end_date, priority, metadata, media_asset_id };
}

/** The fields that a list item and a single campaign share. */
function viewShared(row: Omit<CampaignRow, 'brief' | 'target' | 'created_by' | 'placed_at'>, posterUrl: PosterUrl) {
  return {
    id: row.id,
    account_id: row.account_id,
    group_id: row.group_id,
    name: row.name,
    description: row.description,
    start_date: row.start_date,
    end_date: row.end_date,
    priority: row.priority,
    metadata: row.metadata,
    status: row.status,
    current_version: row.current_version,
    live_version: row.live_version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    total_ad_count: row.total_ad_count,
    screen_count: row.screen_count,
    estimated_locations: row.estimated_locations,
    scored_ad_count: row.scored_ad_count,
    campaign_score: row.campaign_score,
    media_asset_id: row.media_asset_id,
    poster_url: posterUrl(row.poster_key),
    scored_signature: row.scored_signature,
  };
}

export function viewCampaign(row: CampaignRow, posterUrl: PosterUrl): z.output<typeof Campaign> {
  return { ...viewShared(row, posterUrl), brief: row.brief };
}

export function viewSummary(row: ListedCampaign, posterUrl: PosterUrl): z.output<typeof CampaignSummary> {
  return { ...viewShared(row, posterUrl), brief: { product: row.product } };
}

export const viewCampaignAd = (ad: PlannedAd, posterUrl: PosterUrl): z.output<typeof CampaignAd> => ({
  id: ad.id,
  ad_id: ad.ad_id,
  screen_tag: ad.screen_tag,
  position: ad.position,
  score: ad.score,
  created_at: ad.created_at.toISOString(),
  name: ad.name,
  media_asset_id: ad.media_asset_id,
  duration_ms: ad.duration_ms,
  fit: ad.fit,
  poster_url: posterUrl(ad.poster_key),
});

export function viewDetail(
  row: CampaignWithAds,
  validation: Report,
  posterUrl: PosterUrl,
): z.output<typeof CampaignDetail> {
  return {
    ...viewCampaign(row, posterUrl),
    target: row.target,
    ads: row.ads.map((ad) => viewCampaignAd(ad, posterUrl)),
    latest_validation: validation,
  };
}
