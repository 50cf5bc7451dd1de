import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { LoyaltyCohorts, LoyaltySummary, loyaltyIntervals } from './loyalty.resources.ts';
import { inOrder, scopeQuery } from './queries.ts';

const service = 'events';
const access = { credential: 'any' } as const;
const description = 'Days are local to each location. What is on the blacklist is left out.';

export const summarizeLoyalty = endpoint({
  operation: 'summarize_loyalty',
  method: 'GET',
  path: '/v2/loyalty/summary',
  service,
  summary: 'How often visitors come back',
  description,
  access,
  query: z.object(scopeQuery).check(refinedBy(inOrder)),
  success: { status: 200, description: 'The figures', body: LoyaltySummary },
});

export const listCohorts = endpoint({
  operation: 'list_cohorts',
  method: 'GET',
  path: '/v2/loyalty/cohorts',
  service,
  summary: 'Which visitors of a week or month came again, and when',
  description: `The range is that of first visits; later visits count up to now. More than 60 cohorts are refused. ${description}`,
  access,
  query: z
    .object({
      ...scopeQuery,
      interval: loyaltyIntervals.default('month').meta({ description: 'How long a period is' }),
    })
    .check(refinedBy(inOrder)),
  success: { status: 200, description: 'The cohorts, the oldest first', body: LoyaltyCohorts },
});
