import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { db } from '../store.ts';
import { meanDwell, medianDwell, p90Dwell } from './dwell-columns.ts';
import { histogramEdges } from './histogram.ts';

interface DwellRow {
  readonly visits: number;
  readonly mean_dwell_ms: number | null;
  readonly median_dwell_ms: number | null;
  readonly p90_dwell_ms: number | null;
}

export interface ZoneRow extends DwellRow {
  readonly zone_id: string;
  readonly location_id: string;
  readonly visitors: number;
}

interface Row {
  readonly as_of: Date;
  readonly overall: DwellRow;
  /** Visits by the number of their bar, from 1; null without visits. */
  readonly histogram: Readonly<Record<string, number>> | null;
  readonly zones: readonly ZoneRow[];
}

const figures = sql`
  count(*) AS visits, ${meanDwell} AS mean_dwell_ms, ${medianDwell} AS median_dwell_ms, ${p90Dwell} AS p90_dwell_ms`;

/** The dwells of all visits, and those in zones after one, in the order of their ids. */
export async function findDwells(
  tx: Sql,
  scope: Scope,
  { after, limit, now }: { readonly after: string | undefined; readonly limit: number; readonly now: Date },
): Promise<Row> {
  const { accountId } = scope;
  const inScope = sql`location_id IN (SELECT id FROM scope) AND ${inRange(sql.ref('date'), scope)}`;
  const { rows } = await sql<Row>`
    WITH ${scopeTables(scope, now)}, chosen AS MATERIALIZED (
      SELECT dwell_ms FROM visit_facts WHERE account_id = ${accountId} AND ${inScope}
    ), bars AS (
      SELECT width_bucket(dwell_ms, ${histogramEdges}::int[]) AS bar, count(*) AS visits FROM chosen GROUP BY 1
    ), stays AS (
      SELECT zone_id, location_id, visitor_key, sum(dwell_ms) AS dwell_ms FROM dwell_facts
      WHERE account_id = ${accountId} AND ${inScope} AND zone_id > ${after ?? ''}
      GROUP BY event_id, zone_id, location_id, visitor_key
    ), zones AS (
      SELECT zone_id, location_id, count(DISTINCT visitor_key) AS visitors, ${figures} FROM stays
      GROUP BY zone_id, location_id ORDER BY zone_id LIMIT ${limit}
    )
    SELECT (SELECT as_of FROM behind),
      (SELECT to_json(overall) FROM (SELECT ${figures} FROM chosen) AS overall) AS overall,
      (SELECT json_object_agg(bar, visits) FROM bars) AS histogram,
      (SELECT coalesce(json_agg(zones ORDER BY zone_id), '[]') FROM zones) AS zones`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('A query of values has one row');
  return row;
}
