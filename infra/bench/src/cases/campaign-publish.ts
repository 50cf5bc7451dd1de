import pg from 'pg';
import { newDrafts, published, type Studio, seedPlaying, seedStudio, settle } from '../campaign/seed.ts';
import { startCampaign } from '../campaign/service.ts';
import { type Case, compare, costRow } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { asOwner } from '../endpoints/start-service.ts';

const bars = { sql: 3, growth: 1.3 };

/** Fills an empty table with placements of others, without which the planner would not know what placements are like. */
async function onlyOthers(database: BenchDatabase, table: string): Promise<void> {
  await database.sql(`INSERT INTO ${table} SELECT * FROM other_placements`);
  await database.sql(`ANALYZE ${table}`);
}

/** Milliseconds of one publish, over so many of them. */
async function publish(database: BenchDatabase, url: string, studio: Studio, times: number): Promise<number> {
  await database.sql(`TRUNCATE ${published} CASCADE`);
  await onlyOthers(database, 'placements');
  const drafts = await newDrafts(database, studio, times);
  const headers = asOwner(studio.account);
  const began = performance.now();
  for (const id of drafts) {
    const answer = await fetch(`${url}/v2/campaigns/${id}/publish`, { method: 'POST', headers });
    if (answer.status !== 200) throw new Error(await answer.text());
    await answer.arrayBuffer();
  }
  return (performance.now() - began) / times;
}

/** The placements of a publish, written by hand: a table with the same keys, indexes and checks, and without triggers. */
const bareTable = 'CREATE TABLE bare_placements (LIKE placements INCLUDING ALL)';
const bareInsert = `
  INSERT INTO bare_placements (account_id, campaign_id, campaign_ad_id, ad_id, screen_id, location_id, group_id, screen_tag,
    version, valid_from)
  SELECT screen.account_id, $2, $3, $4, screen.id, location.id, location.group_id, 'window', 1, now()
  FROM known_screens AS screen JOIN known_locations AS location ON location.id = screen.location_id
  WHERE screen.account_id = $1 AND 'window' = ANY(screen.tags)`;

async function insertBare(database: BenchDatabase, client: pg.Client, studio: Studio, times: number): Promise<number> {
  await database.sql('TRUNCATE bare_placements');
  await onlyOthers(database, 'bare_placements');
  const began = performance.now();
  for (let n = 0; n < times; n++) {
    const values = [studio.account, `campaign ${n}`, `campaign ad ${n}`, studio.ad];
    await client.query({ name: 'insert', text: bareInsert, values });
  }
  return (performance.now() - began) / times;
}

export const campaignPublish: Case = {
  name: 'campaign: publish',
  run: (tools) =>
    withDatabase(tools, 'campaign', async (database) => {
      const [most, few] = tools.smoke ? [100, 10] : [10_000, 1_000];
      const times = tools.smoke ? 1 : 5;
      tools.say(`  publishing to ${most} screens beside its SQL, then beside ${few}`);
      const large = await seedStudio(database, most);
      const small = await seedStudio(database, few);
      await database.sql(bareTable);
      const others = await seedStudio(database, few);
      await seedPlaying(database, others, Array(20).fill({ from: 0, to: few }));
      await database.sql('CREATE TABLE other_placements AS SELECT * FROM placements');
      await settle(database);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      const server = await startCampaign(database);
      try {
        const beside = await compare(
          tools,
          () => publish(database, server.url, large, times),
          () => insertBare(database, client, large, times),
        );
        const growth = await compare(
          tools,
          async () => (1_000 * (await publish(database, server.url, large, times))) / most,
          async () => (1_000 * (await publish(database, server.url, small, 10 * times))) / few,
        );
        return [
          costRow('Publish to 10,000 screens beside the bare SQL of its placements', beside, bars.sql, 'ms'),
          costRow('… for each screen, of 10,000 beside of 1,000', growth, bars.growth, 'µs'),
        ];
      } finally {
        await Promise.all([client.end(), server.stop()]);
      }
    }),
};
