import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { among } from '../organization/common.ts';
import { CommaSeparated, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { CampaignVersion, CampaignVersionDetail, Placement } from './publishing.resources.ts';
import { CampaignDetail } from './resources.ts';

const service = 'campaign';
const access = { credential: 'any' } as const;
const campaignId = z.object({ id: id('campaign') });

export const publishCampaign = endpoint({
  operation: 'publish_campaign',
  method: 'POST',
  path: '/v2/campaigns/{id}/publish',
  service,
  summary: 'Publish a draft as its next version',
  description:
    'The content is frozen, and placed on the screens that it reaches. 409: it is no draft, or nothing differs from the last version. 422: its validation has an error. 403: it reaches a screen that the caller does not see.',
  access,
  params: campaignId,
  idempotent: true,
  success: { status: 200, description: 'The campaign', body: CampaignDetail },
  problems: ['unprocessable'],
});

export const reviseCampaign = endpoint({
  operation: 'revise_campaign',
  method: 'POST',
  path: '/v2/campaigns/{id}/revise',
  service,
  summary: 'Make a draft of a published campaign',
  description: 'Its live version goes on.',
  access,
  params: campaignId,
  success: { status: 200, description: 'The campaign', body: CampaignDetail },
  problems: ['conflict'],
});

export const discardCampaignDraft = endpoint({
  operation: 'discard_campaign_draft',
  method: 'POST',
  path: '/v2/campaigns/{id}/discard-draft',
  service,
  summary: 'Return to what is live',
  description: 'The draft gets the content of the live version again, and is published.',
  access,
  params: campaignId,
  success: { status: 200, description: 'The campaign', body: CampaignDetail },
  problems: ['conflict'],
});

export const archiveCampaign = endpoint({
  operation: 'archive_campaign',
  method: 'POST',
  path: '/v2/campaigns/{id}/archive',
  service,
  summary: 'End a campaign for good',
  description: 'Its placements are closed.',
  access,
  params: campaignId,
  success: { status: 200, description: 'The campaign', body: CampaignDetail },
  problems: ['conflict'],
});

export const listCampaignVersions = endpoint({
  operation: 'list_campaign_versions',
  method: 'GET',
  path: '/v2/campaigns/{id}/versions',
  service,
  summary: "A campaign's versions",
  access,
  params: campaignId,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of versions, newest first', body: Page(CampaignVersion) },
});

export const getCampaignVersion = endpoint({
  operation: 'get_campaign_version',
  method: 'GET',
  path: '/v2/campaigns/{id}/versions/{version}',
  service,
  summary: 'A version with what was published',
  access,
  params: campaignId.extend({
    version: z
      .string()
      .regex(/^[1-9]\d{0,8}$/, 'must be the number of a version')
      .transform(Number)
      .meta({ type: 'integer', minimum: 1, example: 1 }),
  }),
  success: { status: 200, description: 'The version', body: CampaignVersionDetail },
});

const placementStatuses = z.enum(['live', 'closed']);

export const listCampaignPlacements = endpoint({
  operation: 'list_campaign_placements',
  method: 'GET',
  path: '/v2/campaigns/{id}/placements',
  service,
  summary: 'Where and when a campaign plays',
  description:
    'A caller with some groups sees the screens of these. A closed placement belongs to the group that its screen was in at its end.',
  access,
  params: campaignId,
  query: z.object({
    ...pageQuery,
    status: CommaSeparated(placementStatuses)
      .optional()
      .meta({ description: `Comma-joined: ${placementStatuses.options.join(', ')}` }),
    screen_ids: among('screen', 'on these screens'),
    location_ids: among('location', 'in these locations'),
    campaign_ad_ids: among('campaign_ad', 'of these campaign ads'),
    at: Timestamp.optional().meta({ description: 'Those that held at this instant' }),
  }),
  turns: 'page',
  success: {
    status: 200,
    description: 'A page of placements, by screen, campaign ad and begin',
    body: Page(Placement),
  },
});
