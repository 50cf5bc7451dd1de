import { z } from 'zod';
import { Count } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { nextCursor } from '../wire/pages.ts';
import { answered, bucketOf, seriesAnswered } from './queries.ts';

const Ms = Count.nullable().meta({ description: 'Milliseconds; null without visits', example: 312_000 });

const typical = { mean_dwell_ms: Ms, median_dwell_ms: Ms };
const dwells = { ...typical, p90_dwell_ms: Ms.meta({ description: 'Nine of ten stayed no longer' }) };

export const VisitsSummary = z
  .object({
    ...answered,
    visits: Count,
    visitors: Count,
    new_visitors: Count.meta({ description: 'Visitors whose first visit ever was not before `from`' }),
    returning_visitors: Count.meta({ description: 'The others' }),
    ...dwells,
  })
  .meta({ id: 'VisitsSummary', description: 'Visits of a range of days' });

export const VisitsTimeseries = z
  .object({
    ...seriesAnswered,
    buckets: z.array(z.object({ ...bucketOf, visits: Count, visitors: Count, ...typical })),
  })
  .meta({ id: 'VisitsTimeseries', description: 'Visits by the local time at which they began' });

export const VisitsDwell = z
  .object({
    ...answered,
    overall: z.object({
      visits: Count,
      ...dwells,
      histogram: z
        .array(
          z.object({
            from_ms: Count,
            to_ms: Count.nullable().meta({ description: 'No longer within; null: without an end' }),
            visits: Count,
          }),
        )
        .meta({ description: 'Visits by how long they were' }),
    }),
    entries: z
      .array(z.object({ zone_id: id('zone'), location_id: id('location'), visits: Count, visitors: Count, ...dwells }))
      .meta({ description: 'Zones in which anybody was, in the order of their ids' }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'VisitsDwell', description: 'How long visits were, and how long they were in each zone' });
