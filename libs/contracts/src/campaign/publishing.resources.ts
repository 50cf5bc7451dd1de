import { z } from 'zod';
import { CalendarDate, Count, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { adFits } from './ads.resources.ts';
import { Brief } from './brief.ts';
import { Target } from './target.resources.ts';
import { Validation } from './validation.resources.ts';

export const versionStatuses = ['live', 'superseded', 'closed'] as const;

const SnapshotAd = z.object({
  campaign_ad_id: id('campaign_ad'),
  ad_id: id('ad'),
  screen_tag: z.string().meta({ example: 'entrance' }),
  position: Count,
  duration_ms: z.int().min(1).meta({ example: 10_000 }),
  fit: z.enum(adFits),
  muted: z.boolean(),
  click_through: z.object({ url: z.string(), label: z.string().nullable() }).nullable(),
  media_asset_id: id('media_asset'),
  sha256: z.string().meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
  size_bytes: Count,
  mime: z.string().meta({ example: 'image/png' }),
});

export const Snapshot = z
  .object({
    name: z.string().meta({ example: 'Spring sale' }),
    description: z.string().nullable(),
    brief: Brief,
    start_date: CalendarDate.nullable(),
    end_date: CalendarDate.nullable(),
    priority: Count,
    media_asset_id: id('media_asset').nullable(),
    target: Target,
    ads: z.array(SnapshotAd),
  })
  .meta({ id: 'CampaignSnapshot', description: 'What was published, frozen' });

const versionFields = {
  version: z.int().min(1),
  status: z.enum(versionStatuses).meta({ description: 'closed: it was live when the campaign was archived' }),
  published_at: Timestamp,
  published_by: z.string().meta({ example: 'usr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' }),
  ended_at: Timestamp.nullable().meta({ description: 'null while it is live' }),
  content_hash: z
    .string()
    .meta({ description: 'SHA-256 of the snapshot as RFC 8785 JSON, in lower-case hex', example: '9f86d081…' }),
  ad_count: Count,
  screen_count: Count.meta({ description: 'Screens that it reached when it was published' }),
};

export const CampaignVersion = z
  .object({
    ...versionFields,
    validation: z.object({ status: Validation.shape.status, error_count: Count, warning_count: Count }),
  })
  .meta({ id: 'CampaignVersion', description: 'A publication' });

export const CampaignVersionDetail = z
  .object({ ...versionFields, snapshot: Snapshot, validation: Validation })
  .meta({ id: 'CampaignVersionDetail' });

export const Placement = z
  .object({
    campaign_id: id('campaign'),
    campaign_ad_id: id('campaign_ad'),
    ad_id: id('ad'),
    screen_id: id('screen'),
    location_id: id('location'),
    screen_tag: z.string().meta({ example: 'entrance' }),
    version: z.int().min(1).meta({ description: 'The version that opened it' }),
    status: z.enum(['live', 'closed']),
    valid_from: Timestamp,
    valid_to: Timestamp.nullable().meta({ description: 'null: live' }),
    closed_by: z.string().nullable().meta({ description: 'publish, estate, archive, …; null: live', example: null }),
  })
  .meta({ id: 'Placement', description: 'Where and when an ad of a published campaign plays' });
