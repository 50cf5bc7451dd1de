import type { Sql } from '@attribution/database';
import { type RawBuilder, sql } from 'kysely';
import { inRange, type Scope, scopeTables } from '../scope/index.ts';
import { type ArmSums, type Design, type PlayedHours, sumClusters } from '../statistics/index.ts';
import { db } from '../store.ts';
import { convertedTable, judgedTable } from './conversion.store.ts';
import type { Conversion } from './conversion.ts';

interface ArmRow {
  readonly exposed: boolean;
  readonly clusters: number;
  readonly visitors: number;
  readonly converted: number;
  readonly visitors_squared: string;
  readonly visitors_by_converted: string;
  readonly converted_squared: string;
}

interface Row {
  readonly as_of: Date;
  readonly arms: readonly ArmRow[];
  readonly pending_visitors: number;
}

const inScope = (campaignId: string) => sql`campaign_id = ${campaignId} AND location_id IN (SELECT id FROM scope)`;

/** Hours of locations by what the campaign did in them, and by what the highest version in each says. */
async function findPlayed(tx: Sql, scope: Scope, campaignId: string, now: Date): Promise<PlayedHours[]> {
  const { rows } = await sql<PlayedHours>`
    WITH ${scopeTables(scope, now)}, hours AS (
      SELECT max(version) AS version,
        CASE WHEN sum(plays) = 0 THEN 'control' WHEN sum(held_plays) = 0 THEN 'exposed' ELSE 'mixed' END AS kind
      FROM play_hours
      WHERE account_id = ${scope.accountId} AND ${inScope(campaignId)} AND ${inRange(sql.ref('date'), scope)}
      GROUP BY location_id, date, hour
    ), counted AS (
      SELECT version, kind, count(*) AS hours FROM hours GROUP BY 1, 2
    )
    SELECT kind, hours::float8 AS hours, (
      SELECT holdout_percent FROM known_versions AS known
      WHERE account_id = ${scope.accountId} AND campaign_id = ${campaignId} AND known.version = counted.version
    ) AS "holdoutPercent"
    FROM counted`.execute(db(tx));
  return rows;
}

const meetings = (scope: Scope, campaignId: string) => sql`
  FROM meeting_facts
  WHERE account_id = ${scope.accountId} AND ${inScope(campaignId)} AND ${inRange(sql.ref('met_date'), scope)}`;

/**
 * Visitors of both arms, each once, with the visit that decides and its local hour: those who met the campaign, real or held.
 * The first meeting decides: whoever stays longer meets more, and shall not change sides by that.
 */
const unitsOfHoldout = (scope: Scope, campaignId: string) => sql`
  units AS (
    SELECT DISTINCT ON (visitor_key) visitor_key, location_id, event_id, first_at AS met_at, left_at,
      met_date AS day, met_hour AS hour, bool_or(NOT held) OVER same_moment AS exposed
    ${meetings(scope, campaignId)}
    WINDOW same_moment AS (
      PARTITION BY visitor_key, first_at ORDER BY event_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    )
    ORDER BY visitor_key, first_at, event_id
  )`; // The window's order is that of the whole, so that visitors are sorted once.

/** The same without a holdout: the control are those who came to where it played, and did not meet it. */
const unitsWithoutHoldout = (scope: Scope, campaignId: string) => sql`
  open AS (
    SELECT DISTINCT location_id FROM play_hours
    WHERE account_id = ${scope.accountId} AND ${inScope(campaignId)} AND ${inRange(sql.ref('date'), scope)}
      AND plays > 0
  ), came AS (
    SELECT visitor_key, location_id, event_id, first_at AS met_at, left_at, met_date AS day, met_hour AS hour,
      held, true AS meeting
    ${meetings(scope, campaignId)}
    UNION ALL
    SELECT visitor_key, location_id, event_id, entered_at, left_at, date, hour, NULL, false
    FROM visit_facts
    WHERE account_id = ${scope.accountId} AND ${inRange(sql.ref('date'), scope)}
      AND location_id IN (SELECT location_id FROM open)
  ), told AS (
    SELECT *, coalesce(bool_or(NOT held) OVER (PARTITION BY visitor_key), false) AS exposed FROM came
  ), units AS (
    SELECT DISTINCT ON (visitor_key) visitor_key, location_id, event_id, met_at, left_at, day, hour, exposed
    FROM told WHERE meeting = exposed
    ORDER BY visitor_key, met_at, event_id
  )`;

/**
 * What the clusters of each arm add up to, of visitors whose window is over. Both halves are counted before they are put
 * together: a million visitors would else be sorted once more.
 */
const arms: RawBuilder<unknown> = sql`
  outcomes AS (
    SELECT exposed, location_id, day, hour, count(*) AS visitors, 0 AS converted FROM judged WHERE ripe GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT exposed, location_id, day, hour, 0, count(*) FROM converted GROUP BY 1, 2, 3, 4
  ), clusters AS (
    SELECT exposed, sum(visitors) AS visitors, sum(converted) AS converted
    FROM outcomes GROUP BY exposed, location_id, day, hour
  ), arms AS (
    SELECT exposed, count(*) AS clusters, sum(visitors) AS visitors, sum(converted) AS converted,
      sum(visitors * visitors)::text AS visitors_squared,
      sum(visitors * converted)::text AS visitors_by_converted,
      sum(converted * converted)::text AS converted_squared
    FROM clusters GROUP BY exposed
  )`;

function sumsOf(row: ArmRow | undefined): ArmSums {
  if (!row) return sumClusters([]);
  const { clusters, visitors, converted } = row;
  return {
    ...{ clusters, visitors, converted },
    visitorsSquared: BigInt(row.visitors_squared),
    visitorsByConverted: BigInt(row.visitors_by_converted),
    convertedSquared: BigInt(row.converted_squared),
  };
}

/** What a lift is told from. Run it in a snapshot. */
export async function findArms(
  tx: Sql,
  scope: Scope,
  { campaignId, conversion, now }: { campaignId: string; conversion: Conversion; now: Date },
) {
  const played = await findPlayed(tx, scope, campaignId, now);
  const design: Design = played.some(({ kind }) => kind !== 'exposed') ? 'holdout' : 'observational';
  const units = design === 'holdout' ? unitsOfHoldout : unitsWithoutHoldout;
  const { rows } = await sql<Row>`
    WITH ${scopeTables(scope, now)}, ${units(scope, campaignId)}, ${judgedTable(conversion)},
      ${convertedTable(scope, conversion)}, ${arms}
    SELECT (SELECT as_of FROM behind), (SELECT coalesce(json_agg(arms), '[]') FROM arms) AS arms,
      (SELECT count(*) FROM judged WHERE NOT ripe)::float8 AS pending_visitors`.execute(db(tx));
  const [row] = rows;
  if (!row) throw new Error('What is behind has one row');
  const { as_of, pending_visitors } = row;
  const armOf = (exposed: boolean) => sumsOf(row.arms.find((arm) => arm.exposed === exposed));
  return { as_of, pending_visitors, design, played, exposed: armOf(true), control: armOf(false) };
}
