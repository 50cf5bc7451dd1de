import { type RawBuilder, sql } from 'kysely';
import type { Interval } from './series.ts';

/** The columns `date` and `hour` of the bucket that a local day and hour are in, to group by as the first two of a query. */
export const bucketColumns = (
  date: RawBuilder<unknown>,
  hour: RawBuilder<unknown>,
  interval: Interval,
): RawBuilder<unknown> => sql`
  to_char(date_trunc(${interval === 'hour' ? 'day' : interval}::text, ${date}::timestamp), 'YYYY-MM-DD') AS date,
  ${interval === 'hour' ? hour : sql`0`}::int AS hour`;
