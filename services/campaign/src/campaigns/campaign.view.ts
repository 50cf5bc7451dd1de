import type { Campaign, CampaignDetail, CampaignSummary } from '@attribution/contracts';
import type { z } from 'zod';
import type { CampaignFields, findCampaign } from './campaign.store.ts';
import type { CampaignBrief, CampaignTarget } from './campaign.ts';
import { averageScore, validateCampaign } from './validation.ts';

export type CampaignRow = NonNullable<Awaited<ReturnType<typeof findCampaign>>>;

const dayOf = (date: Date | null) => date?.toISOString().slice(0, 10) ?? null;

/** What a request may set, of a row. */
export function fieldsOf(row: CampaignRow): CampaignFields {
  return {
    group_id: row.group_id,
    name: row.name,
    description: row.description,
    brief: row.brief as CampaignBrief,
    start_date: dayOf(row.start_date),
    end_date: dayOf(row.end_date),
    priority: row.priority,
    metadata: row.metadata as Record<string, unknown>,
  };
}

export function viewCampaign(row: CampaignRow): z.output<typeof Campaign> {
  return {
    id: row.id,
    account_id: row.account_id,
    ...fieldsOf(row),
    status: row.status,
    current_version: row.current_version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    total_ad_count: row.ads.length,
    screen_count: row.screen_count,
    estimated_locations: row.estimated_locations,
    scored_ad_count: row.ads.filter((ad) => ad.score !== null).length,
    campaign_score: averageScore(row.ads),
    media_asset_id: row.media_asset_id,
    poster_url: row.poster_url,
    scored_signature: row.scored_signature,
  };
}

export function viewSummary(row: CampaignRow): z.output<typeof CampaignSummary> {
  const campaign = viewCampaign(row);
  return { ...campaign, brief: { product: campaign.brief.product } };
}

export function viewDetail(row: CampaignRow): z.output<typeof CampaignDetail> {
  return {
    ...viewCampaign(row),
    target: row.target as CampaignTarget,
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
