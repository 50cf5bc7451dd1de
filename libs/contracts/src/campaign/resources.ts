import { z } from 'zod';
import { Tag } from '../organization/tags.ts';
import { CalendarDate, Count, JsonObject, Name, Text, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { adFits } from './ads.resources.ts';
import { Brief, BriefChange, BriefInput } from './brief.ts';
import { Target } from './target.resources.ts';
import { Validation } from './validation.resources.ts';

export const campaignStatuses = ['draft', 'published', 'archived'] as const;
export const CampaignStatus = z.enum(campaignStatuses);

const settable = {
  group_id: id('group').nullable().meta({ description: 'For access; null: account-wide callers and the author alone' }),
  name: Name().meta({ example: 'Spring sale' }),
  description: Text(5000).nullable().meta({ example: 'Trail shoes, in all shops' }),
  start_date: CalendarDate.nullable(),
  end_date: CalendarDate.nullable().meta({ description: 'Not before start_date', example: '2026-03-31' }),
  priority: z.int().min(0).max(1_000_000).meta({ description: 'The highest wins on a shared screen', example: 10 }),
  metadata: JsonObject().meta({
    description: 'Settings of a user interface; never read by logic',
    example: { step: 2 },
  }),
};

const cover = id('media_asset').nullable().meta({ description: 'The cover' });

const campaignFields = {
  id: id('campaign'),
  account_id: id('account'),
  ...settable,
  status: CampaignStatus,
  current_version: z.int().min(1).nullable().meta({ description: 'Latest published version' }),
  live_version: z.int().min(1).nullable().meta({ description: 'The version that plays now' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  total_ad_count: Count,
  screen_count: Count.meta({ description: 'Distinct screens with a live placement' }),
  estimated_locations: Count.meta({ description: "Locations that the target's include-set comes to" }),
  scored_ad_count: Count,
  campaign_score: z.number().nullable().meta({ description: 'Average of the scored ads', example: 71.5 }),
  media_asset_id: cover,
  poster_url: z.string().nullable().meta({ description: 'Of the cover; signed, expires', example: null }),
  scored_signature: z
    .string()
    .nullable()
    .meta({ description: 'Fingerprint of what was last scored', example: '9f86d081…' }),
};

export const Campaign = z.object({ ...campaignFields, brief: Brief }).meta({ id: 'Campaign' });

export const CampaignSummary = z
  .object({ ...campaignFields, brief: z.object({ product: Text().nullable().meta({ example: 'Trail shoe X2' }) }) })
  .meta({ id: 'CampaignSummary', description: 'A campaign in a list: of the brief, only product' });

const ScreenTag = Tag.meta({ description: 'It plays on screens with this tag', example: 'entrance' });
const position = z.int().min(0).max(9_999).meta({ description: 'Lower ones play first' });

export const CampaignAd = z
  .object({
    id: id('campaign_ad'),
    ad_id: id('ad'),
    screen_tag: z.string().meta({ example: 'entrance' }),
    position,
    score: z.number().nullable().meta({ example: 71.5 }),
    created_at: Timestamp,
    name: z.string().meta({ description: 'Of the ad, like what follows', example: 'Spring sale, landscape' }),
    media_asset_id: id('media_asset'),
    duration_ms: z.int().min(1).meta({ example: 10_000 }),
    fit: z.enum(adFits),
    poster_url: z.string().nullable().meta({ description: 'Signed; expires', example: null }),
  })
  .meta({ id: 'CampaignAd', description: 'An ad in a campaign, against a screen tag' });

export const NewCampaignAd = z
  .object({
    ad_id: id('ad'),
    screen_tag: ScreenTag,
    position: position.optional().meta({ description: 'Default: one more than the highest; 0 for the first' }),
  })
  .meta({
    id: 'NewCampaignAd',
    example: { ad_id: 'ad_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f', screen_tag: 'entrance' },
  });
export const CampaignAdChange = z.object({ screen_tag: ScreenTag, position }).partial();

export const CampaignDetail = z
  .object({ ...Campaign.shape, target: Target, ads: z.array(CampaignAd), latest_validation: Validation })
  .meta({ id: 'CampaignDetail' });

export const NewCampaign = z
  .object({
    ...settable,
    group_id: settable.group_id.optional(),
    description: settable.description.default(null),
    brief: BriefInput.default({ version: 1, product: null, objective: null, outcome: null }),
    start_date: settable.start_date.default(null),
    end_date: settable.end_date.default(null),
    priority: settable.priority.default(0),
    metadata: settable.metadata.default({}),
  })
  .meta({
    id: 'NewCampaign',
    example: {
      name: 'Spring sale',
      brief: { product: 'Trail shoe X2', objective: 'Bring runners into the shops' },
      start_date: '2026-03-01',
      end_date: '2026-03-31',
      priority: 10,
    },
  });

export const CampaignChange = z.object({ ...settable, brief: BriefChange, media_asset_id: cover }).partial();
