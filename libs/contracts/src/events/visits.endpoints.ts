import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { pageQuery } from '../wire/pages.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { inOrder, scopeQuery, seriesQuery } from './queries.ts';
import { VisitsDwell, VisitsSummary, VisitsTimeseries } from './visits.resources.ts';

const service = 'events';
const access = { credential: 'any' } as const;

export const summarizeVisits = endpoint({
  operation: 'summarize_visits',
  method: 'GET',
  path: '/v2/visits/summary',
  service,
  summary: 'How many came, who was new, and how long they stayed',
  description: 'Days are local to each location. What is on the blacklist is left out.',
  access,
  query: z.object(scopeQuery).check(refinedBy(inOrder)),
  success: { status: 200, description: 'The figures', body: VisitsSummary },
});

export const getVisitsTimeseries = endpoint({
  operation: 'get_visits_timeseries',
  method: 'GET',
  path: '/v2/visits/timeseries',
  service,
  summary: 'Visits hour by hour, or by days, weeks or months',
  description:
    'Every bucket from the first day to the last, empty ones too; a side that is open begins or ends with the first or last visit. A day always has 24 hours: one that the clock repeats is one bucket, one that it skips is empty.',
  access,
  query: z.object(seriesQuery).check(refinedBy(inOrder)),
  success: { status: 200, description: 'The series', body: VisitsTimeseries },
});

export const getVisitsDwell = endpoint({
  operation: 'get_visits_dwell',
  method: 'GET',
  path: '/v2/visits/dwell',
  service,
  summary: 'How long visitors stayed, and in which zones',
  description: 'The dwell of a visit in a zone is the sum of its stays there.',
  access,
  query: z.object({ ...scopeQuery, ...pageQuery }).check(refinedBy(inOrder)),
  success: { status: 200, description: 'The figures, and a page of zones', body: VisitsDwell },
});
