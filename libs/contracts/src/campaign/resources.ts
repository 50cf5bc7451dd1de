import { z } from 'zod';
import { CalendarDate, Count, JsonObject, Name, Text, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

/** The purpose of the campaign. Additional fields are stored unchanged. */
const briefFields = {
  version: z.int().min(1).max(1_000_000),
  product: Text(500).nullable().meta({ example: 'Trail shoe X2' }),
  objective: Text(2000).nullable().meta({ example: 'Bring runners into the shops' }),
  outcome: Text(2000).nullable().meta({ example: 'A tenth more visits' }),
};
export const Brief = z
  .looseObject(briefFields)
  .meta({ id: 'Brief', description: 'Versioned; holds further free-text fields' });

export const BriefInput = z.looseObject({
  version: briefFields.version.default(1),
  product: briefFields.product.default(null),
  objective: briefFields.objective.default(null),
  outcome: briefFields.outcome.default(null),
});
const BriefChange = z.looseObject(briefFields).partial();

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

const campaignFields = {
  id: id('campaign'),
  account_id: id('account'),
  ...settable,
  status: CampaignStatus,
  current_version: z.int().min(1).nullable().meta({ description: 'Latest published version' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  total_ad_count: Count,
  screen_count: Count.meta({ description: 'Distinct screens with a placement' }),
  estimated_locations: Count.meta({ description: 'Size of the stored target include-set' }),
  scored_ad_count: Count,
  campaign_score: z.number().nullable().meta({ description: 'Average of the scored ads', example: 71.5 }),
  media_asset_id: id('media_asset').nullable().meta({ description: 'The cover' }),
  poster_url: z.string().nullable().meta({ example: 'https://media.example.com/poster.jpg' }),
  scored_signature: z
    .string()
    .nullable()
    .meta({ description: 'Fingerprint of what was last scored', example: '9f86d081…' }),
};

export const Campaign = z.object({ ...campaignFields, brief: Brief }).meta({ id: 'Campaign' });

export const CampaignSummary = z
  .object({ ...campaignFields, brief: z.object({ product: Text().nullable().meta({ example: 'Trail shoe X2' }) }) })
  .meta({ id: 'CampaignSummary', description: 'A campaign in a list: of the brief, only product' });

const selection = z.object({
  group_ids: z.array(id('group')),
  location_ids: z.array(id('location')),
  tags: z.array(z.string().meta({ example: 'flagship' })),
});
export const Target = z
  .object({
    include: selection,
    exclude: selection,
    holdout_percent: z
      .number()
      .min(0)
      .max(100)
      .meta({ description: 'Share of hours kept free, as a control', example: 10 }),
  })
  .meta({ id: 'CampaignTarget', description: 'Where it may run' });

export const CampaignAd = z
  .object({
    id: id('campaign_ad'),
    ad_id: id('ad'),
    screen_tag: z.string().meta({ example: 'entrance' }),
    position: Count,
    score: z.number().nullable().meta({ example: 71.5 }),
    created_at: Timestamp,
  })
  .meta({ id: 'CampaignAd', description: 'An ad in a campaign, against a screen tag' });

const Check = z.object({
  code: z.string().meta({ example: 'no_ads' }),
  severity: z.enum(['error', 'warning']),
  detail: z.string().meta({ example: 'The campaign has no ads.' }),
});
export const Validation = z
  .object({
    status: z
      .enum(['ok', 'warning', 'error'])
      .meta({ description: 'The gravest check; an error keeps it from being published' }),
    error_count: Count,
    warning_count: Count,
    checks: z.array(Check).meta({ description: 'Of the campaign as a whole' }),
    ads: z.array(z.object({ campaign_ad_id: id('campaign_ad'), checks: z.array(Check), score: z.number().nullable() })),
    effectiveness_score: z.number().nullable().meta({ description: 'Informational' }),
  })
  .meta({ id: 'CampaignValidation', description: 'A preview of what publishing would check; changes nothing' });

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

export const CampaignChange = z.object({ ...settable, brief: BriefChange }).partial();
