import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { readDuration } from '../wire/durations.ts';
import { CommaSeparated } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { CampaignLift, CampaignPerformance, CampaignTimeseries } from './campaigns.resources.ts';
import { inOrder, scopeQuery, seriesQuery } from './queries.ts';

const service = 'events';
const access = { credential: 'any' } as const;
const params = z.object({ id: id('campaign') });

const [shortest, longest] = ['1m', '30d'] as const;
const between = (text: string) => {
  const ms = readDuration(text) ?? 0;
  return ms >= (readDuration(shortest) ?? 0) && ms <= (readDuration(longest) ?? 0);
};

/** Stays as it was given, because answers repeat it. */
const Window = z
  .string()
  .refine(between, `must be a duration from ${shortest} to ${longest}, such as 30m, 48h or 7d`)
  .default('7d')
  .meta({
    pattern: '^\\d{1,9}[smhd]$',
    description: `How long after a visit, or with targets after the first exposure, a conversion counts: ${shortest} to ${longest}`,
    example: '7d',
  });

const conversionQuery = {
  ...scopeQuery,
  window: Window,
  target_zone_ids: CommaSeparated(z.string().regex(/^[^,]+$/, 'must not be empty'), 20)
    .optional()
    .meta({
      description: 'Somebody converts who comes into one of these zones; without them, who comes again',
    }),
};

export const getCampaignPerformance = endpoint({
  operation: 'get_campaign_performance',
  method: 'GET',
  path: '/v2/campaigns/{id}/performance',
  service,
  summary: 'What a campaign played, who could see it, and who converted',
  description:
    'An opportunity to see is a visit and a play in one zone at one time. Plays are of the local day on which they began, and exposures of that on which they did.',
  access,
  params,
  query: z.object(conversionQuery).check(refinedBy(inOrder)),
  success: {
    status: 200,
    description: 'The figures; zero for a campaign that never played',
    body: CampaignPerformance,
  },
});

export const getCampaignTimeseries = endpoint({
  operation: 'get_campaign_timeseries',
  method: 'GET',
  path: '/v2/campaigns/{id}/performance/timeseries',
  service,
  summary: 'Plays and exposures of a campaign hour by hour, or by days, weeks or months',
  description:
    'Every bucket from the first day to the last, empty ones too; a side that is open begins or ends with data.',
  access,
  params,
  query: z.object(seriesQuery).check(refinedBy(inOrder)),
  success: { status: 200, description: 'The series', body: CampaignTimeseries },
});

export const getCampaignLift = endpoint({
  operation: 'get_campaign_lift',
  method: 'GET',
  path: '/v2/campaigns/{id}/lift',
  service,
  summary: 'By how much more of those convert who met a campaign, and how sure that is',
  description:
    'Where chance held the campaign back in some hours, visitors whom it was held back from are the control. Where it did not, those who came without meeting it are, which compares people who differ in more than that. Intervals hold the truth in 95 of 100 cases, also where visitors of an hour are alike.',
  access,
  params,
  query: z.object(conversionQuery).check(refinedBy(inOrder)),
  success: { status: 200, description: 'The lift, or why none can be told', body: CampaignLift },
});
