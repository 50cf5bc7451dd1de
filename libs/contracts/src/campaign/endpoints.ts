import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated, unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { DataPage, pageQuery } from '../wire/pages.ts';
import { Campaign, CampaignChange, CampaignDetail, CampaignStatus, CampaignSummary, NewCampaign } from './resources.ts';

const service = 'campaign';
const access = { credential: 'any' } as const;
const campaignId = z.object({ id: id('campaign') });
const fixed = unchangeable(
  'id',
  'account_id',
  'status',
  'current_version',
  'live_version',
  'created_at',
  'updated_at',
  'total_ad_count',
  'screen_count',
  'estimated_locations',
  'scored_ad_count',
  'campaign_score',
  'poster_url',
  'scored_signature',
  'target',
  'ads',
  'latest_validation',
);

export const listCampaigns = endpoint({
  operation: 'list_campaigns',
  method: 'GET',
  path: '/v2/campaigns',
  service,
  summary: 'Campaigns',
  access,
  query: z.object({
    ...pageQuery,
    status: CommaSeparated(CampaignStatus)
      .optional()
      .meta({ description: `Comma-joined: ${CampaignStatus.options.join(', ')}` }),
  }),
  turns: 'page',
  success: { status: 200, description: 'A page of campaigns, newest first', body: DataPage(CampaignSummary) },
});

export const createCampaign = endpoint({
  operation: 'create_campaign',
  method: 'POST',
  path: '/v2/campaigns',
  service,
  summary: 'Create a campaign',
  description: 'It starts as a draft and puts nothing on a screen. Only name is required.',
  access,
  body: NewCampaign,
  idempotent: true,
  success: { status: 201, description: 'The draft', body: Campaign },
  problems: ['unprocessable'],
});

export const getCampaign = endpoint({
  operation: 'get_campaign',
  method: 'GET',
  path: '/v2/campaigns/{id}',
  service,
  summary: 'A campaign with its target, ads and validation',
  access,
  params: campaignId,
  success: { status: 200, description: 'The campaign', body: CampaignDetail },
});

export const updateCampaign = endpoint({
  operation: 'update_campaign',
  method: 'PATCH',
  path: '/v2/campaigns/{id}',
  service,
  summary: 'Change a draft',
  description: 'Fields of `brief` are merged into it.',
  access,
  params: campaignId,
  body: CampaignChange.extend(fixed).meta({
    id: 'CampaignChange',
    example: { priority: 20, brief: { outcome: 'A tenth more visits' } },
  }),
  success: { status: 200, description: 'The campaign', body: Campaign },
  problems: ['conflict', 'unprocessable'],
});
