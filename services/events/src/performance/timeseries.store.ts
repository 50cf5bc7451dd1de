import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { bucketColumns, type Interval } from '../series/index.ts';
import { db } from '../store.ts';

export interface BucketRow {
  readonly date: string;
  readonly hour: number;
  readonly plays: number;
  readonly play_ms: number;
  readonly opportunities_to_see: number;
  readonly exposed_visits: number;
  readonly exposed_visitors: number;
}

type Row = { readonly as_of: Date } & (BucketRow | { readonly date: null });

/** The buckets in which a campaign played or was met, in order. */
export async function findBuckets(
  tx: Sql,
  scope: Scope,
  { campaignId, interval, now }: { campaignId: string; interval: Interval; now: Date },
) {
  const { accountId } = scope;
  const own = sql`campaign_id = ${campaignId} AND location_id IN (SELECT id FROM scope)`;
  const bucket = (date: string, hour: string) => bucketColumns(sql.ref(date), sql.ref(hour), interval);
  const { rows } = await sql<Row>`
    WITH ${scopeTables(scope, now)}, parts AS (
      SELECT ${bucket('date', 'hour')}, sum(plays) AS plays, sum(play_ms) AS play_ms,
        0 AS opportunities_to_see, 0 AS exposed_visits, 0 AS exposed_visitors
      FROM play_hours WHERE account_id = ${accountId} AND ${own} AND ${inRange(sql.ref('date'), scope)} AND plays > 0
      GROUP BY 1, 2
      UNION ALL
      SELECT ${bucket('met_date', 'met_hour')}, 0, 0, sum(pairs), 0, 0
      FROM meeting_facts WHERE account_id = ${accountId} AND ${own} AND ${inRange(sql.ref('met_date'), scope)} AND NOT held
      GROUP BY 1, 2
      UNION ALL
      SELECT ${bucket('first_date', 'first_hour')}, 0, 0, 0, count(*), count(DISTINCT visitor_key)
      FROM exposure_facts WHERE account_id = ${accountId} AND ${own} AND ${inRange(sql.ref('first_date'), scope)}
      GROUP BY 1, 2
    ), buckets AS (
      SELECT date, hour, sum(plays)::float8 AS plays, sum(play_ms)::float8 AS play_ms,
        sum(opportunities_to_see)::float8 AS opportunities_to_see,
        sum(exposed_visits)::float8 AS exposed_visits, sum(exposed_visitors)::float8 AS exposed_visitors
      FROM parts GROUP BY date, hour
    )
    SELECT * FROM behind LEFT JOIN buckets ON true ORDER BY date, hour`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('What is behind has one row');
  return { as_of: row.as_of, buckets: rows.filter((one): one is Row & BucketRow => one.date !== null) };
}
