import { z } from 'zod';
import { CalendarDate, CommaSeparated, Timestamp } from '../wire/formats.ts';
import type { Refinement } from '../wire/refined-by.ts';

/** Ids that filter: those that are unknown, or out of the caller's sight, match nothing. */
export const filterIds = (what: string) =>
  CommaSeparated(z.string().regex(/^[^,]+$/, 'must not be empty'))
    .optional()
    .meta({ description: what });

/** The query of every figure: local days, each side open when it is omitted, and places. */
export const scopeQuery = {
  from: CalendarDate.optional().meta({ description: 'The first day, local to each location' }),
  to: CalendarDate.optional().meta({ description: 'The last day' }),
  location_ids: filterIds('Only these locations'),
  group_ids: filterIds('Only the locations that are now in these groups'),
};

/** Refuses a range that ends before it begins. */
export const inOrder = (
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  context: Refinement,
): void => {
  if (from !== undefined && to !== undefined && from > to)
    context.addIssue({ code: 'custom', path: ['to'], message: 'must not be before from', input: to });
};

/** What every answer with figures says of itself. */
export const answered = {
  from: CalendarDate.nullable(),
  to: CalendarDate.nullable(),
  as_of: Timestamp.meta({ description: 'Whatever was accepted before is in the figures' }),
};

/** The lengths of the buckets of a series. */
const interval = z.enum(['hour', 'day', 'week', 'month']);
export type Interval = z.output<typeof interval>;

/** The query of every series. Which ranges are too long for it is a rule of the service. */
export const seriesQuery = {
  ...scopeQuery,
  interval: interval.default('day').meta({
    description: '`hour` needs from and to, 31 days at most. A series has 1,000 buckets at most',
  }),
};

/** What every answer with a series says of itself. */
export const seriesAnswered = { ...answered, interval };

/** What names a bucket. */
export const bucketOf = {
  date: CalendarDate.meta({ description: 'The day, the Monday of the week, or the first of the month' }),
  hour: z.int().min(0).max(23).optional().meta({ description: 'By the local clock, with `interval=hour` alone' }),
};

/** How an item came. */
export const received = {
  received_at: Timestamp,
  clock_offset_ms: z.int().meta({ description: 'What was added to the times of the batch' }),
};
