import type { Campaign, CampaignDetail, CampaignSummary } from '@attribution/contracts';
import type { z } from 'zod';
import type { CampaignWithAds } from './campaign.store.ts';
import type { CampaignFields, CampaignRow, ListedCampaign } from './campaign.ts';
import { validateCampaign } from './validation.ts';

/** The fields of a row that a request may set. */
export function fieldsOf(row: CampaignRow): CampaignFields {
  const { group_id, name, description, brief, start_date, end_date, priority, metadata } = row;
  return { group_id, name, description, brief, start_date, end_date, priority, metadata };
}

/** The fields that a list item and a single campaign share. */
function viewShared(row: Omit<CampaignRow, 'brief' | 'target' | 'created_by'>) {
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
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    total_ad_count: row.total_ad_count,
    screen_count: row.screen_count,
    estimated_locations: row.estimated_locations,
    scored_ad_count: row.scored_ad_count,
    campaign_score: row.campaign_score,
    media_asset_id: row.media_asset_id,
    poster_url: row.poster_url,
    scored_signature: row.scored_signature,
  };
}

export function viewCampaign(row: CampaignRow): z.output<typeof Campaign> {
  return { ...viewShared(row), brief: row.brief };
}

export function viewSummary(row: ListedCampaign): z.output<typeof CampaignSummary> {
  return { ...viewShared(row), brief: { product: row.product } };
}

export function viewDetail(row: CampaignWithAds): z.output<typeof CampaignDetail> {
  return {
    ...viewCampaign(row),
    target: row.target,
    ads: row.ads.map(({ id, ad_id, screen_tag, position, score, created_at }) => ({
      id,
      ad_id,
      screen_tag,
      position,
      score,
      created_at: created_at.toISOString(),
    })),
    latest_validation: validateCampaign(row.ads),
  };
}
