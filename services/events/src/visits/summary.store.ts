import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { db } from '../store.ts';
import { meanDwell, medianDwell, p90Dwell } from './dwell-columns.ts';
import { firstVisits, newVisitors } from './first-visits.store.ts';

export interface SummaryRow {
  readonly as_of: Date;
  readonly visits: number;
  readonly visitors: number;
  readonly new_visitors: number;
  readonly mean_dwell_ms: number | null;
  readonly median_dwell_ms: number | null;
  readonly p90_dwell_ms: number | null;
}

export async function summarize(tx: Sql, scope: Scope, now: Date): Promise<SummaryRow> {
  const { accountId } = scope;
  const { rows } = await sql<SummaryRow>`
    WITH ${scopeTables(scope, now)}, chosen AS (
      SELECT visitor_key, dwell_ms FROM visit_facts
      WHERE account_id = ${accountId} AND location_id IN (SELECT id FROM scope) AND ${inRange(sql.ref('date'), scope)}
    ), ${firstVisits(scope)}
    SELECT (SELECT as_of FROM behind),
      count(*)::float8 AS visits,
      count(DISTINCT visitor_key)::float8 AS visitors,
      ${newVisitors(scope)} AS new_visitors,
      ${meanDwell} AS mean_dwell_ms,
      ${medianDwell} AS median_dwell_ms,
      ${p90Dwell} AS p90_dwell_ms
    FROM chosen`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('An aggregate has one row');
  return row;
}
