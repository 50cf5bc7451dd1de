import { z } from 'zod';
import { weekdays } from '../organization/opening-hours.ts';
import { Tag } from '../organization/tags.ts';
import { Count, Name, Text, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const adFits = ['contain', 'cover', 'stretch'] as const;

/** Milliseconds that an ad may be shown. */
export const adDuration = { min: 1_000, max: 300_000 } as const;

const webUrl = z
  .string()
  .max(2000, 'must have at most 2000 characters')
  .refine((text) => /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text), 'must be an http or https URL')
  .meta({ format: 'uri', example: 'https://shop.example.com/spring' });

const ClickThrough = z.object({ url: webUrl, label: Text(100).nullable().default(null) });

const adFields = {
  ad_library_id: id('ad_library'),
  name: Name(255).meta({ example: 'Spring sale, landscape' }),
  duration_ms: z
    .int()
    .min(adDuration.min)
    .max(adDuration.max)
    .meta({ description: 'Milliseconds in each round', example: 10_000 }),
  fit: z.enum(adFits).meta({ description: 'How it fills a screen of another shape' }),
  muted: z.boolean().meta({ description: 'Its sound is off, also where a screen plays sound' }),
  click_through: ClickThrough.nullable().meta({ description: 'Where a touch or a scan leads' }),
};
const ofAsset = { media_asset_id: id('media_asset') };
const poster_url = z.string().nullable().meta({ description: 'Signed; expires', example: null });
const created_by = z.string().meta({ example: 'usr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' });

export const Ad = z
  .object({
    id: id('ad'),
    account_id: id('account'),
    ...adFields,
    name: z.string().meta({ example: 'Spring sale, landscape' }),
    click_through: z.object({ url: z.string(), label: z.string().nullable() }).nullable(),
    ...ofAsset,
    kind: z.enum(['image', 'video']),
    width: z.int().min(1).meta({ description: 'Pixels, as it is shown', example: 1920 }),
    height: z.int().min(1).meta({ description: 'Pixels, as it is shown', example: 1080 }),
    profile_id: id('ad_profile').nullable(),
    campaign_count: Count.meta({ description: 'Campaigns that it is in' }),
    poster_url,
    created_by,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Ad', description: 'An asset, and how it is shown' });

export const NewAd = z
  .object({
    ...adFields,
    ...ofAsset,
    name: adFields.name.optional().meta({ description: 'Default: the filename of the asset' }),
    duration_ms: adFields.duration_ms
      .optional()
      .meta({ description: 'Default: that of the asset, within the bounds; 10,000 for a still image' }),
    fit: adFields.fit.default('contain'),
    muted: adFields.muted.default(false),
    click_through: adFields.click_through.default(null),
  })
  .meta({
    id: 'NewAd',
    example: {
      ad_library_id: 'asl_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      media_asset_id: 'mda_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      name: 'Spring sale, landscape',
      duration_ms: 8_000,
    },
  });
export const AdChange = z.object(adFields).partial();

const age = z.int().min(0).max(120).nullable();
const distinct = (values: readonly string[]) => new Set(values).size === values.length;

const audienceFields = {
  age_from: age.meta({ example: 25 }),
  age_to: age.meta({ example: 45 }),
  interests: z
    .array(Tag)
    .max(20, 'must have at most 20 values')
    .refine(distinct, 'must name each interest once')
    .meta({ example: ['running'] }),
  description: Text(500).nullable(),
};
const inAgeOrder = ({ age_from, age_to }: { age_from: number | null; age_to: number | null }) =>
  age_from === null || age_to === null || age_from <= age_to;

const clock = (pattern: RegExp, message: string) => z.string().regex(pattern, message);
const minutesPattern = '([01]\\d|2[0-3]):[0-5]\\d';
const daypartFields = {
  days: z.array(z.enum(weekdays)).min(1).max(7).refine(distinct, 'must name each day once'),
  from: clock(new RegExp(`^${minutesPattern}$`), 'must be a time of day (HH:MM)').meta({ example: '17:00' }),
  to: clock(new RegExp(`^(${minutesPattern}|24:00)$`), 'must be a time of day (HH:MM), or 24:00').meta({
    description: 'Not after from: on the next day',
    example: '20:00',
  }),
};

export const AdProfile = z
  .object({
    id: id('ad_profile'),
    ad_id: id('ad'),
    audience: z.object({ ...audienceFields, interests: z.array(z.string()) }),
    dayparts: z.array(z.object(daypartFields)),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'AdProfile', description: 'Whom an ad is for, and when; informs scoring alone' });

export const NewAdProfile = z
  .object({
    audience: z
      .object({
        age_from: audienceFields.age_from.default(null),
        age_to: audienceFields.age_to.default(null),
        interests: audienceFields.interests.default([]),
        description: audienceFields.description.default(null),
      })
      .refine(inAgeOrder, 'must have an age_from that is not above age_to')
      .default({ age_from: null, age_to: null, interests: [], description: null }),
    dayparts: z
      .array(z.object(daypartFields).refine(({ from, to }) => from !== to, 'must have a from and a to that differ'))
      .max(21, 'must have at most 21 values')
      .default([]),
  })
  .meta({
    id: 'NewAdProfile',
    example: {
      audience: { age_from: 25, age_to: 45, interests: ['running'] },
      dayparts: [{ days: ['mon', 'tue'], from: '17:00', to: '20:00' }],
    },
  });
