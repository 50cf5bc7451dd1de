import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { CampaignAd, CampaignAdChange, NewCampaignAd } from './resources.ts';
import { NewTarget, Target } from './target.resources.ts';
import { Validation } from './validation.resources.ts';

/** What a draft is made of, besides its own fields. */

const service = 'campaign';
const access = { credential: 'any' } as const;
const campaignId = z.object({ id: id('campaign') });
const campaignAdId = z.object({ id: id('campaign'), campaign_ad_id: id('campaign_ad') });

export const setCampaignTarget = endpoint({
  operation: 'set_campaign_target',
  method: 'PUT',
  path: '/v2/campaigns/{id}/target',
  service,
  summary: "Set a draft's target",
  description: 'As a whole: what is left out is empty.',
  access,
  params: campaignId,
  body: NewTarget,
  success: { status: 200, description: 'The target', body: Target },
  problems: ['conflict', 'unprocessable'],
});

export const addCampaignAd = endpoint({
  operation: 'add_campaign_ad',
  method: 'POST',
  path: '/v2/campaigns/{id}/ads',
  service,
  summary: 'Add an ad to a draft',
  description: 'A campaign has at most 100.',
  access,
  params: campaignId,
  body: NewCampaignAd,
  idempotent: true,
  success: { status: 201, description: 'The campaign ad', body: CampaignAd },
  problems: ['unprocessable'],
});

export const updateCampaignAd = endpoint({
  operation: 'update_campaign_ad',
  method: 'PATCH',
  path: '/v2/campaigns/{id}/ads/{campaign_ad_id}',
  service,
  summary: 'Change where an ad of a draft plays',
  access,
  params: campaignAdId,
  body: CampaignAdChange.extend(
    unchangeable('id', 'ad_id', 'score', 'created_at', 'name', 'media_asset_id', 'duration_ms', 'fit', 'poster_url'),
  ).meta({ id: 'CampaignAdChange', example: { position: 2 } }),
  success: { status: 200, description: 'The campaign ad', body: CampaignAd },
  problems: ['conflict'],
});

export const removeCampaignAd = endpoint({
  operation: 'remove_campaign_ad',
  method: 'DELETE',
  path: '/v2/campaigns/{id}/ads/{campaign_ad_id}',
  service,
  summary: 'Remove an ad from a draft',
  access,
  params: campaignAdId,
  success: { status: 204, description: 'Removed' },
  problems: ['conflict'],
});

export const validateCampaign = endpoint({
  operation: 'validate_campaign',
  method: 'POST',
  path: '/v2/campaigns/{id}/validate',
  service,
  summary: 'Check a campaign as publishing would',
  description: 'It writes nothing.',
  changes_nothing: true,
  access,
  params: campaignId,
  success: { status: 200, description: 'The checks', body: Validation },
  problems: ['conflict'],
});
