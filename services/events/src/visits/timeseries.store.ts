import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { bucketColumns, type Interval } from '../series/index.ts';
import { db } from '../store.ts';
import { meanDwell, medianDwell } from './dwell-columns.ts';

export interface BucketRow {
  readonly date: string;
  readonly hour: number;
  readonly visits: number;
  readonly visitors: number;
  readonly mean_dwell_ms: number | null;
  readonly median_dwell_ms: number | null;
}

type Row = { readonly as_of: Date } & (BucketRow | { readonly date: null });

/** The buckets that have visits, in order. */
export async function findBuckets(tx: Sql, scope: Scope, interval: Interval, now: Date) {
  const { rows } = await sql<Row>`
    WITH ${scopeTables(scope, now)}, buckets AS (
      SELECT ${bucketColumns(sql.ref('date'), sql.ref('hour'), interval)},
        count(*)::float8 AS visits,
        count(DISTINCT visitor_key)::float8 AS visitors,
        ${meanDwell} AS mean_dwell_ms,
        ${medianDwell} AS median_dwell_ms
      FROM visit_facts
      WHERE account_id = ${scope.accountId} AND location_id IN (SELECT id FROM scope)
        AND ${inRange(sql.ref('date'), scope)}
      GROUP BY 1, 2
    )
    SELECT * FROM behind LEFT JOIN buckets ON true ORDER BY date, hour`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('What is behind has one row');
  return { as_of: row.as_of, buckets: rows.filter((one): one is Row & BucketRow => one.date !== null) };
}
