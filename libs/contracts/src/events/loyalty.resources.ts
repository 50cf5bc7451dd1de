import { z } from 'zod';
import { CalendarDate, Count } from '../wire/formats.ts';
import { answered } from './queries.ts';

const Percent = z.number().min(0).max(100).meta({ description: 'Percent, not rounded' });

export const loyaltyIntervals = z.enum(['week', 'month']);

export const LoyaltySummary = z
  .object({
    ...answered,
    visitors: Count,
    new_visitors: Count.meta({ description: 'Visitors whose first visit ever was not before `from`' }),
    returning_visitors: Count.meta({ description: 'The others' }),
    returning_rate: Percent.nullable().meta({ description: 'Percent of the visitors; null without any' }),
    visits_per_visitor: z.number().nullable(),
    frequency: z
      .array(z.object({ visits: z.int().min(1).max(5), visitors: Count }))
      .length(5)
      .meta({ description: 'How many came so often: once to four times, and 5: five times or more' }),
    median_days_between_visits: Count.nullable().meta({
      description: 'Between each visit and the next one of the same visitor; null where nobody came twice',
    }),
  })
  .meta({ id: 'LoyaltySummary', description: 'How often visitors come back, in a range of days' });

export const LoyaltyCohorts = z
  .object({
    ...answered,
    interval: loyaltyIntervals,
    cohorts: z.array(
      z.object({
        date: CalendarDate.meta({
          description: 'The first day of the period of their first visit: a Monday, or a first',
        }),
        visitors: Count,
        periods: z.array(
          z.object({
            offset: z.int().min(1).meta({ description: 'Periods after that one' }),
            visitors: Count.meta({ description: 'Those who came in it' }),
            rate: Percent,
            complete: z.boolean().meta({ description: 'The period is over in every location of the scope' }),
          }),
        ),
      }),
    ),
  })
  .meta({
    id: 'LoyaltyCohorts',
    description: 'Visitors by the period in which they came first, and when they came again',
  });
