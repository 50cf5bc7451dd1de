import { type Case, type Row, rateRow } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { compareServers, withDatabase } from '../endpoints/compare-servers.ts';
import { asOwner } from '../endpoints/start-service.ts';
import { range, type Seeded, seedAccount, seedPlayHours, seedPlays, seedVisitors } from '../events/seed.ts';
import { startEvents } from '../events/service.ts';
import { load } from '../wrk.ts';

const bar = 1 / 1.3;
/** Ten screens, open for twelve hours on 90 days: 10,800 hours of screens. */
const locations = 5;
const visitors = 20_000;

async function fill(database: BenchDatabase, playsPerHour: number): Promise<Seeded> {
  const seeded = await seedAccount(database, locations);
  await seedPlayHours(database, seeded, playsPerHour);
  await seedPlays(database, seeded);
  await seedVisitors(database, seeded, visitors);
  await database.sql('VACUUM ANALYZE');
  return seeded;
}

const figures = {
  performance: `from=${range.from}&to=${range.to}`,
  'performance/timeseries': `from=${range.from}&to=${range.to}&interval=day`,
};

export const eventsFigures: Case = {
  name: 'events: figures of 90 days',
  run: (tools) =>
    withDatabase(tools, 'events', (first) =>
      withDatabase(tools, 'events', async (second) => {
        const most = tools.smoke ? 2 : 1_000;
        tools.say(`  filling: ${10_800 * most} plays beside 10,800`);
        const [many, few] = [await fill(first, most), await fill(second, 1)];
        const rows: Row[] = [];
        for (const [figure, query] of Object.entries(figures)) {
          const [ours, other] = [await startEvents(first), await startEvents(second)];
          const compared = await compareServers(tools, ours, other, async (url) => {
            const { account, campaign } = url === ours.url ? many : few;
            const target = `${url}/v2/campaigns/${campaign}/${figure}?${query}`;
            return (await load({ url: target, seconds: tools.seconds, connections: 4, headers: asOwner(account) }))
              .rate;
          });
          rows.push(
            rateRow(`\`${figure}\` over 90 days: 10,800,000 plays beside 10,800 in the same hours`, compared, bar),
          );
        }
        return rows;
      }),
    ),
};
