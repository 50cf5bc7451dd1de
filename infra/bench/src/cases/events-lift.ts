import pg from 'pg';
import { type Case, compare, costRow } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { asOwner } from '../endpoints/start-service.ts';
import { range, type Seeded, seedAccount, seedPlayHours, seedVisitors } from '../events/seed.ts';
import { startEvents } from '../events/service.ts';

const bar = 2;
const window = '7d';

/** Milliseconds of a lift, and what it says of both arms. */
async function lift(url: string, { account, campaign }: Seeded) {
  const query = new URLSearchParams({ from: range.from, to: range.to, window });
  const began = performance.now();
  const answer = await fetch(`${url}/v2/campaigns/${campaign}/lift?${query}`, { headers: asOwner(account) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return { ms: performance.now() - began, answer: JSON.parse(text) };
}

/**
 * The same sums by hand: who met the campaign first, who came again, and the clusters of both arms. Whoever came again is
 * found by a join, which takes half of the time of a look-up for each.
 */
const bareLift = `
  WITH units AS MATERIALIZED (
    SELECT DISTINCT ON (visitor_key) visitor_key, location_id, event_id, met_date, met_hour, left_at, NOT held AS exposed
    FROM meeting_facts WHERE account_id = $1 AND campaign_id = $2 AND met_date BETWEEN $3 AND $4
    ORDER BY visitor_key, first_at, event_id
  ), outcomes AS (
    SELECT exposed, location_id, met_date, met_hour, count(*) AS n, 0 AS y FROM units GROUP BY 1, 2, 3, 4
    UNION ALL
    SELECT exposed, location_id, met_date, met_hour, 0, count(*) FROM units WHERE EXISTS (
      SELECT FROM visit_facts AS again
      WHERE again.account_id = $1 AND again.visitor_key = units.visitor_key AND again.location_id = units.location_id
        AND again.event_id <> units.event_id
        AND again.entered_at >= units.left_at AND again.entered_at < units.left_at + interval '7 days'
    ) GROUP BY 1, 2, 3, 4
  ), clusters AS (
    SELECT exposed, sum(n) AS n, sum(y) AS y FROM outcomes GROUP BY exposed, location_id, met_date, met_hour
  )
  SELECT exposed, count(*)::int AS clusters, sum(n)::int AS visitors, sum(y)::int AS converted, sum(n * n) AS nn,
    sum(n * y) AS ny, sum(y * y) AS yy
  FROM clusters GROUP BY exposed ORDER BY exposed DESC`;

async function liftBySql(client: pg.Client, { account, campaign }: Seeded) {
  const began = performance.now();
  const { rows } = await client.query(bareLift, [account, campaign, range.from, range.to]);
  return { ms: performance.now() - began, rows };
}

/** A comparison means something only if both count the same. */
async function checkSame(database: BenchDatabase, url: string, seeded: Seeded, client: pg.Client): Promise<void> {
  const { answer } = await lift(url, seeded);
  const { rows } = await liftBySql(client, seeded);
  const counts = ({ visitors, converted, clusters }: Record<string, number>) => [visitors, converted, clusters];
  const [ours, theirs] = [[answer.exposed, answer.control].map(counts), rows.map(counts)];
  if (JSON.stringify(ours) !== JSON.stringify(theirs))
    throw new Error(`${JSON.stringify(ours)} beside ${JSON.stringify(theirs)} in ${database.url}`);
}

export const eventsLift: Case = {
  name: 'events: lift',
  run: (tools) =>
    withDatabase(tools, 'events', async (database) => {
      const visitors = tools.smoke ? 2_000 : 1_000_000;
      tools.say(`  filling: ${visitors} visitors in 50 locations`);
      const seeded = await seedAccount(database, 50);
      await seedPlayHours(database, seeded, 100);
      await seedVisitors(database, seeded, visitors);
      await database.sql('VACUUM ANALYZE');
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      const server = await startEvents(database);
      try {
        await checkSame(database, server.url, seeded, client);
        const compared = await compare(
          tools,
          async () => (await lift(server.url, seeded)).ms,
          async () => (await liftBySql(client, seeded)).ms,
        );
        return [costRow('Lift of 1,000,000 visitors beside the SQL of its sums', compared, bar, 'ms')];
      } finally {
        await Promise.all([client.end(), server.stop()]);
      }
    }),
};
