import { z } from 'zod';
import { Count } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

/** In the order in which publishing names the first of them. */
export const checkCodes = [
  'no_ads',
  'no_placement',
  'ended',
  'target_out_of_reach',
  'no_screen',
  'undecodable',
  'decode_unverified',
  'codec',
  'codec_support',
  'duration',
  'duration_unusual',
  'rotation',
  'variable_frame_rate',
  'colour_profile',
  'not_scored',
  'format',
  'aspect_ratio',
  'letterbox',
  'crop',
  'distortion',
  'upscaled',
  'audio_on_silent_screen',
  'not_installed',
  'location_inactive',
] as const;
export type CheckCode = (typeof checkCodes)[number];

const status = z.enum(['ok', 'warning', 'error']).meta({ description: 'The gravest check' });

const Check = z
  .object({
    code: z.string().meta({ description: `${checkCodes.join(', ')}, …`, example: 'aspect_ratio' }),
    severity: z.enum(['error', 'warning']),
    detail: z.string().meta({ example: 'Of the screen, 68 % would be left as bars.' }),
    screen_kind: Count.optional().meta({ description: 'Index in screen_kinds; left out where the ad itself is meant' }),
    measured: z.number().optional().meta({ example: 0.6836 }),
    limit: z.number().optional().meta({ example: 0.25 }),
  })
  .meta({ id: 'CampaignCheck' });

const ScreenKind = z.object({
  width_px: z.int().min(1).meta({ example: 1080 }),
  height_px: z.int().min(1).meta({ example: 1920 }),
  accepted_formats: z.array(z.string().meta({ example: 'image/png' })),
  audio: z.boolean(),
  screen_count: Count,
  status,
});

export const Validation = z
  .object({
    status,
    error_count: Count,
    warning_count: Count,
    gates_publish: z.boolean().meta({ description: 'Whether an error keeps it from being published' }),
    matched_screens: Count,
    matched_locations: Count,
    checks: z.array(Check).meta({ description: 'Of the campaign as a whole' }),
    ads: z.array(
      z.object({
        campaign_ad_id: id('campaign_ad'),
        status,
        score: z.number().nullable(),
        screen_count: Count,
        screen_kinds: z.array(ScreenKind).meta({ description: 'The different screens that it reaches' }),
        checks: z.array(Check),
      }),
    ),
    effectiveness_score: z.number().nullable().meta({ description: 'Average of the scored ads; informational' }),
  })
  .meta({ id: 'CampaignValidation', description: 'A preview of what publishing would check; changes nothing' });
