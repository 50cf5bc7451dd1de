import { newDrafts, type Playing, type Studio, seedPlaying, seedStudio, settle } from '../campaign/seed.ts';
import { asDevices, startCampaign } from '../campaign/service.ts';
import { type Case, compact, compare, type Row } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { asOwner } from '../endpoints/start-service.ts';
import { load } from '../wrk.ts';

const bar = 2;
const connections = 4;
/** How many devices have asked and have no answer yet, at any time. */
const atOnce = 32;

/**
 * As at the local midnight of all devices: what each knows is of yesterday. The job goes on meanwhile: each statement is a
 * transaction of its own, and locks devices in the order of the job.
 */
async function makeMidnight(database: BenchDatabase): Promise<void> {
  for (const table of ['changed_campaigns', 'changed_devices', 'outbox']) await database.sql(`TRUNCATE ${table}`);
  await database.sql(`
    INSERT INTO device_manifests (device_id, version, hash, changes_at)
    SELECT id, 1, 'yesterday', now() FROM known_devices ORDER BY id
    ON CONFLICT (device_id) DO UPDATE SET version = 1, hash = 'yesterday', changes_at = now()`);
}

/** Each device asks until it has its manifest. Resolves to the seconds until the last one has it. */
async function askAll(url: string, devices: readonly string[]): Promise<number> {
  const began = performance.now();
  const waiting = asDevices(devices).values();
  async function ask(): Promise<void> {
    for (const { path, headers } of waiting) {
      let answer = await fetch(url + path, { headers });
      for (; answer.status === 503; answer = await fetch(url + path, { headers })) await answer.arrayBuffer(); // To come again.
      if (answer.status !== 200) throw new Error(await answer.text());
      const { version } = (await answer.json()) as { version: number };
      if (version !== 2) throw new Error(`The manifest of the new day has version ${version}`);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, ask));
  return (performance.now() - began) / 1_000;
}

async function seed(database: BenchDatabase, accounts: number, devices: number): Promise<readonly string[]> {
  const heldOut: Playing = { from: 0, to: devices, holdoutPercent: 10 };
  const all: Studio[] = [];
  for (let n = 0; n < accounts; n++) {
    const studio = await seedStudio(database, devices);
    await seedPlaying(database, studio, Array(5).fill(heldOut));
    all.push(studio);
  }
  return all.flatMap((studio) => studio.devices);
}

export const campaignMidnight: Case = {
  name: 'campaign: manifests at midnight',
  run: (tools) =>
    withDatabase(tools, 'campaign', async (database) => {
      const [accounts, each] = tools.smoke ? [1, 20] : [10, 1_000];
      tools.say(`  filling: ${accounts * each} devices`);
      const devices = await seed(database, accounts, each);
      const other = await seedStudio(database, 10);
      await newDrafts(database, other, 20);
      await settle(database);
      const server = await startCampaign(database, { RELAY: 'on' });
      const options = { url: `${server.url}/v2/campaigns?limit=20`, connections, headers: asOwner(other.account) };
      const others = async () => (await load({ ...options, seconds: tools.seconds })).p99;
      await (await fetch(options.url, options)).text(); // What requests need is loaded.
      await makeMidnight(database);
      await askAll(server.url, devices.slice(0, 500)); // A process has been through other midnights.
      const took: number[] = [];
      const beside = async () => {
        await makeMidnight(database);
        const [p99, seconds] = await Promise.all([others(), askAll(server.url, devices)]);
        took.push(seconds);
        return p99;
      };
      try {
        const { a, b, ratio } = await compare(tools, beside, others);
        return [
          {
            what: `p99 of GET /v2/campaigns, ${connections} connections, while 10,000 devices have a new day and ask, ${atOnce} at a time (one process)`,
            ours: `${compact(a.median)} ms`,
            beside: `${compact(b.median)} ms without them`,
            ratio,
            bar: `≤ ${bar}`,
            holds: ratio.median <= bar,
          },
          slowest(took),
        ];
      } finally {
        await server.stop();
      }
    }),
};

const slowest = (took: readonly number[]): Row => ({
  what: 'Those devices: the last one has its manifest after',
  ours: `${compact(Math.max(...took))} s`,
  beside: '',
  bar: '–',
});
