import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { db } from '../store.ts';
import { firstVisits, newVisitors } from '../visits/index.ts';

export interface SummaryRow {
  readonly as_of: Date;
  readonly visits: number;
  readonly visitors: number;
  readonly new_visitors: number;
  /** How many came once, twice, and so on; the fifth: five times or more. */
  readonly frequency: readonly number[];
  readonly median_days_between_visits: number | null;
}

/**
 * A quantile is a value that occurs, the nearest rank. Days are those of each location, so that of a visitor's next visit may
 * be the day before: that is no day between them.
 */
export async function summarize(tx: Sql, scope: Scope, now: Date): Promise<SummaryRow> {
  const { rows } = await sql<SummaryRow>`
    WITH ${scopeTables(scope, now)}, chosen AS (
      SELECT visitor_key, date - lag(date) OVER (PARTITION BY visitor_key ORDER BY entered_at, event_id) AS days
      FROM visit_facts
      WHERE account_id = ${scope.accountId} AND location_id IN (SELECT id FROM scope) AND ${inRange(sql.ref('date'), scope)}
    ), visitors AS (
      SELECT least(5, count(*)) AS visits FROM chosen GROUP BY visitor_key
    ), ${firstVisits(scope)}
    SELECT (SELECT as_of FROM behind),
      (SELECT count(*) FROM chosen)::float8 AS visits,
      (SELECT count(*) FROM visitors)::float8 AS visitors,
      ${newVisitors(scope)} AS new_visitors,
      ARRAY(SELECT count(visitors)::float8 FROM generate_series(1, 5) AS often LEFT JOIN visitors ON visits = often
        GROUP BY often ORDER BY often) AS frequency,
      (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY greatest(0, days)) FROM chosen
        WHERE days IS NOT NULL) AS median_days_between_visits`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('A statement without a table has one row');
  return row;
}
