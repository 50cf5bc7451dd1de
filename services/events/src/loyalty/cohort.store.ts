import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { db } from '../store.ts';
import { periodsBetween } from '../time/index.ts';
import { firstVisits } from '../visits/index.ts';
import type { CohortCell } from './cohorts.ts';

type CohortPeriod = 'week' | 'month';

interface Found {
  readonly as_of: Date;
  readonly timezones: readonly string[];
  /** The periods of the first visit and of a later one, by their first days, and how many visitors have both. */
  readonly cells: readonly (readonly [date: string, came: string, visitors: number])[];
}

/** The cells of the cohorts that began in the range, with the time zones of the scope's locations. */
export async function findCells(tx: Sql, scope: Scope, period: CohortPeriod, now: Date) {
  const periodOf = (column: string) => sql`date_trunc(${period}, ${sql.ref(column)}::timestamp)::date`;
  const { rows } = await sql<Found>`
    WITH ${scopeTables(scope, now)}, chosen AS (
      SELECT visitor_key, date FROM visit_facts
      WHERE account_id = ${scope.accountId} AND location_id IN (SELECT id FROM scope)
    ), ${firstVisits(scope)}, founders AS (
      SELECT visitor_key, ${periodOf('date')} AS period FROM firsts WHERE ${inRange(sql.ref('date'), scope)}
    ), came AS (
      SELECT DISTINCT visitor_key, period, ${periodOf('chosen.date')} AS again FROM founders JOIN chosen USING (visitor_key)
    ), cells AS (
      SELECT period, again, count(*) AS visitors FROM came GROUP BY period, again
    )
    SELECT (SELECT as_of FROM behind),
      ARRAY(SELECT DISTINCT timezone FROM known_locations
        WHERE account_id = ${scope.accountId} AND id IN (SELECT id FROM scope)) AS timezones,
      (SELECT coalesce(json_agg(json_build_array(period, again, visitors)), '[]') FROM cells) AS cells`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('A statement without a table has one row');
  const cells = row.cells.map(
    ([date, came, visitors]): CohortCell => ({ date, offset: periodsBetween(date, came, period), visitors }),
  );
  return { as_of: row.as_of, timezones: row.timezones, cells };
}
