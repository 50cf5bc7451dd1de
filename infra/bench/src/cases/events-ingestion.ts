import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { type Case, compact, compare, comparedBy, inPairs, type Row, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { startDevices } from '../events/devices.ts';
import { batchOf, drawPlays, type PlayingScreen, type SentPlay, seedScreens } from '../events/plays.ts';
import { type Seeded, seedAccount } from '../events/seed.ts';
import { startEvents } from '../events/service.ts';
import { quantile } from '../statistics.ts';

const bars = { rate: 0.5, others: 2 };
const path = '/v2/device/plays';
/** Of a batch, at most. */
const mostItems = 500;
/** So many that the service never waits for one of them to have rested. */
const senders = 16;

/** The plays of each screen, in batches. */
const drawBatches = (screens: readonly PlayingScreen[], each: number) =>
  screens.map((screen) => Array.from({ length: each }, () => drawPlays(screen, mostItems)));

/** Items per second, when each device sends one batch after the other. */
async function ingest(database: BenchDatabase, screens: readonly PlayingScreen[], each: number): Promise<number> {
  await database.sql('TRUNCATE plays, dirty_hours, outbox');
  const batches = drawBatches(screens, each).map((own) => own.map(batchOf));
  const began = performance.now();
  await Promise.all(
    screens.map(async ({ device }, at) => {
      for (const batch of batches[at] ?? []) await device.send(path, batch);
    }),
  );
  return (screens.length * each * mostItems) / ((performance.now() - began) / 1_000);
}

const columns = {
  ...{ event_id: 'uuid', screen_id: 'text', campaign_ad_id: 'text', version: 'int', started_at: 'timestamptz' },
  ...{ ended_at: 'timestamptz', completed: 'boolean', holdout: 'boolean' },
} satisfies Readonly<Record<keyof SentPlay, string>>;
const names = Object.keys(columns) as (keyof SentPlay)[];

/** The same rows, in a table with the same keys, indexes and checks: what is stored and nothing else. */
const bareTable = 'CREATE TABLE bare_plays (LIKE plays INCLUDING ALL)';
const bareInsert = {
  name: 'bare',
  text: `
    INSERT INTO bare_plays (account_id, device_id, location_id, campaign_id, received_at, clock_offset_ms, ${names.join(', ')})
    SELECT $1, $2, $3, $4, now(), 0, ${names.join(', ')}
    FROM unnest(${names.map((name, at) => `$${at + 5}::${columns[name]}[]`).join(', ')}) AS row(${names.join(', ')})`,
};

async function insertBare(
  database: BenchDatabase,
  clients: readonly pg.Client[],
  { account, campaign }: Seeded,
  { screens, each }: { screens: readonly PlayingScreen[]; each: number },
): Promise<number> {
  await database.sql('TRUNCATE bare_plays');
  const batches = drawBatches(screens, each);
  const began = performance.now();
  await Promise.all(
    clients.map(async (client, at) => {
      for (const plays of batches[at] ?? []) {
        const arrays = names.map((name) => plays.map((play) => play[name]));
        const { device, location } = screens[at] as PlayingScreen;
        await client.query({ ...bareInsert, values: [account, device.id, location, campaign, ...arrays] });
      }
    }),
  );
  return (screens.length * each * mostItems) / ((performance.now() - began) / 1_000);
}

/**
 * The 99th percentile of small batches of devices, in milliseconds: fifty a second, whatever becomes of the former ones. Those
 * of the first second, in which devices connect, are not counted.
 */
async function sendSmall(screens: readonly PlayingScreen[], seconds: number): Promise<number> {
  const perSecond = 50;
  const sent: Promise<number>[] = [];
  const count = Math.ceil((1 + seconds) * perSecond);
  for (let n = 0; n < count; n++) {
    const screen = screens[n % screens.length] as PlayingScreen;
    sent.push(screen.device.send(path, batchOf(drawPlays(screen, 3))));
    await sleep(1_000 / perSecond);
  }
  return quantile((await Promise.all(sent)).slice(perSecond), 0.99);
}

/** The same while another device sends full batches, one after the other. */
async function sendBeside(
  { device: { place }, ...playing }: PlayingScreen,
  others: readonly PlayingScreen[],
  seconds: number,
): Promise<number> {
  const workerData = { place, playing, path, items: mostItems };
  const flood = new Worker(new URL('../events/flood.worker.ts', import.meta.url), { workerData });
  const ended = once(flood, 'exit'); // Rejects with the error of a thread that fails.
  try {
    await Promise.race([once(flood, 'message'), ended]);
    return await sendSmall(others, seconds);
  } finally {
    flood.postMessage('done');
    await ended;
  }
}

async function othersRow(
  tools: Tools,
  database: BenchDatabase,
  [flooding, ...others]: readonly PlayingScreen[],
): Promise<Row> {
  tools.say('  small batches of others beside full ones of one device');
  const fresh = () => database.sql('TRUNCATE plays, dirty_hours, outbox');
  const runs = await inPairs(
    tools,
    async () => {
      await fresh();
      return sendBeside(flooding as PlayingScreen, others, 4 * tools.seconds);
    },
    async () => {
      await fresh();
      return sendSmall(others, 4 * tools.seconds);
    },
    (p99) => p99,
  );
  const { a, b, ratio } = comparedBy(runs, (p99) => p99);
  return {
    what: 'p99 of small batches while one device sends 500 items at a time, beside quiet',
    ...{ ours: `${compact(a.median)} ms`, beside: `${compact(b.median)} ms`, ratio },
    ...{ bar: `≤ ${bars.others}`, holds: ratio.median <= bars.others },
  };
}

export const eventsIngestion: Case = {
  name: 'events: ingestion',
  run: (tools) =>
    withDatabase(tools, 'events', async (database) => {
      const each = tools.smoke ? 1 : 20;
      const seeded = await seedAccount(database, senders);
      await database.sql(bareTable);
      const server = await startEvents(database);
      const edge = await startDevices(server, { account: seeded.account, count: 2 * senders });
      const clients = Array.from({ length: senders }, () => new pg.Client({ connectionString: database.url }));
      await Promise.all(clients.map((client) => client.connect()));
      try {
        const all = await seedScreens(database, seeded, edge.devices);
        const screens = all.slice(0, senders);
        const compared = await compare(
          tools,
          () => ingest(database, screens, each),
          () => insertBare(database, clients, seeded, { screens, each }),
        );
        return [
          rateRow(
            `Plays through the ingress, 500 in a batch, ${senders} devices at once, beside an UNNEST insert of the same rows`,
            compared,
            bars.rate,
          ),
          await othersRow(tools, database, all.slice(senders)),
        ];
      } finally {
        await Promise.all(clients.map((client) => client.end()));
        await edge.stop();
        await server.stop();
      }
    }),
};
