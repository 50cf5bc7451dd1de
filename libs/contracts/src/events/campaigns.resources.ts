import { z } from 'zod';
import { Count } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { answered, bucketOf, seriesAnswered } from './queries.ts';

const Percent = z
  .number()
  .nullable()
  .meta({ description: 'Percent, unrounded; null where there is nothing to divide by' });
const kind = z
  .enum(['return', 'zone'])
  .meta({ description: '`return`: comes again. `zone`: comes into a target zone' });
const window = z.string().meta({ description: 'As it was asked for', example: '7d' });

const plays = { plays: Count, play_ms: Count };
const exposed = {
  opportunities_to_see: Count.meta({ description: 'Pairs of a visit and a play' }),
  exposed_visits: Count,
  exposed_visitors: Count,
};

const Conversion = z.object({
  kind,
  window,
  ripe_visits: Count.meta({ description: 'Exposed visits whose window is over' }),
  converted_visits: Count.meta({ description: 'Those of them that converted' }),
  rate: Percent,
  pending_visits: Count.meta({ description: 'Exposed visits whose window lasts; they are in no rate' }),
});

export const CampaignPerformance = z
  .object({
    ...answered,
    ...plays,
    completed_plays: Count,
    screens: Count.meta({ description: 'On which it played' }),
    locations: Count,
    ...exposed,
    frequency: z.number().nullable().meta({ description: 'Opportunities to see of an exposed visitor' }),
    mean_exposure_ms: Count.nullable(),
    conversion: Conversion,
  })
  .meta({ id: 'CampaignPerformance', description: 'What a campaign did in a range of days' });

export const CampaignTimeseries = z
  .object({ ...seriesAnswered, buckets: z.array(z.object({ ...bucketOf, ...plays, ...exposed })) })
  .meta({ id: 'CampaignTimeseries', description: 'Plays and exposures of a campaign by the local time of each' });

const Arm = z.object({
  visitors: Count,
  converted: Count,
  rate: Percent,
  rate_low: Percent,
  rate_high: Percent,
  clusters: Count.meta({ description: 'Hours of locations that these visitors are of' }),
  design_effect: z
    .number()
    .min(1)
    .meta({ description: 'By how much visitors of an hour are alike; 1 if they are not' }),
});

/** Null where `reason` says why. */
const said = (description: string) => z.number().nullable().meta({ description });

const SampleRatio = z.object({
  control_hours: Count,
  exposed_hours: Count,
  mixed_hours: Count.meta({ description: 'With real and held plays, as where versions changed' }),
  expected_control_percent: Percent,
  p_value: z.number().nullable(),
  mismatch: z.boolean().meta({ description: 'Something but chance chose the hours' }),
});

export const CampaignLift = z
  .object({
    ...answered,
    campaign_id: id('campaign'),
    design: z.enum(['holdout', 'observational']),
    kind,
    window,
    confidence: z.literal(95),
    exposed: Arm,
    control: Arm,
    difference: said('Percentage points'),
    difference_low: said('The lower end of its interval'),
    difference_high: said('The upper end'),
    lift: said('Percent'),
    lift_low: said('The lower end of its interval'),
    lift_high: said('The upper end'),
    reason: z
      .enum([
        'no_exposed',
        'no_control',
        'too_few_visitors',
        'too_few_conversions',
        'too_few_clusters',
        'sample_ratio_mismatch',
      ])
      .nullable()
      .meta({ description: 'Why difference and lift are null' }),
    sample_ratio: SampleRatio.nullable().meta({ description: 'Null without a holdout' }),
    pending_visitors: Count.meta({ description: 'Left out, because their window lasts' }),
  })
  .meta({ id: 'CampaignLift', description: 'The effect of a campaign on the share of visitors who convert' });
