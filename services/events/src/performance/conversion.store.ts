import { type RawBuilder, sql } from 'kysely';
import type { Scope } from '../scope/index.ts';
import type { Conversion } from './conversion.ts';

const length = ({ windowMs }: Conversion) => sql`${windowMs}::float8 * interval '1 millisecond'`;

/**
 * Whether the windows of visits are over, as a common table expression after `scopeTables`: `judged` has the columns of the
 * table `units`, the instant `since` from which a conversion counts, and `ripe`. Of `units` it needs `met_at` and `left_at`.
 */
export const judgedTable = (conversion: Conversion): RawBuilder<unknown> => {
  const since = conversion.kind === 'return' ? sql`left_at` : sql`met_at`;
  return sql`
    judged AS MATERIALIZED (
      SELECT units.*, ${since} AS since, ${since} + ${length(conversion)} <= as_of AS ripe FROM units, behind
    )`;
};

/** Up to so many visitors are looked up one by one. Above, one join reads all visits of the account: they are slower to look up. */
const mostLookedUp = 20_000;

/**
 * Those of `judged` who converted within a window that is over, as a common table expression; it needs `visitor_key`,
 * `location_id` and `event_id` too. Their number chooses between look-ups and a join: where Postgres knows nothing yet of a
 * young account it would join 400 visitors by reading 2 million rows. OFFSET keeps a look-up what it is, and its order is
 * that of the one index that finds a visitor.
 */
export function convertedTable(scope: Scope, conversion: Conversion): RawBuilder<unknown> {
  const [own, alone] = [conversion.kind === 'return' ? returns : entersZone, sql`ORDER BY entered_at OFFSET 0`];
  const many = sql`(SELECT count(*) FROM judged) > ${mostLookedUp}`;
  return sql`
    converted AS (
      SELECT * FROM judged WHERE ripe AND NOT ${many} AND EXISTS (${own(scope, conversion, alone)})
      UNION ALL
      SELECT * FROM judged WHERE ripe AND ${many} AND EXISTS (${own(scope, conversion, sql``)})
    )`;
}

/** The location is no condition for an index, because all visits of a location would be read where nothing is known of a table. */
const returns = ({ accountId }: Scope, conversion: Conversion, alone: RawBuilder<unknown>) => sql`
  SELECT FROM visit_facts AS again
  WHERE again.account_id = ${accountId} AND again.visitor_key = judged.visitor_key
    AND again.location_id || '' = judged.location_id AND again.event_id <> judged.event_id
    AND again.entered_at >= judged.since AND again.entered_at < judged.since + ${length(conversion)} ${alone}`;

/** Only visits are found by visitor. A stay is within its visit. */
const entersZone = ({ accountId }: Scope, conversion: Conversion, alone: RawBuilder<unknown>) => sql`
  SELECT FROM visit_facts AS visit
  WHERE visit.account_id = ${accountId} AND visit.visitor_key = judged.visitor_key
    AND visit.location_id || '' = judged.location_id AND visit.left_at > judged.since
    AND visit.entered_at < judged.since + ${length(conversion)} AND EXISTS (
      SELECT FROM dwell_facts AS stay
      WHERE stay.account_id = ${accountId} AND stay.location_id = visit.location_id AND stay.date = visit.date
        AND stay.event_id = visit.event_id AND stay.zone_id = ANY(${conversion.zoneIds}::text[])
        AND stay.entered_at >= judged.since AND stay.entered_at < judged.since + ${length(conversion)} ${alone}
    ) ${alone}`;
