import { setTimeout as sleep } from 'node:timers/promises';
import { newUuid } from '@attribution/ids';
import pg from 'pg';
import type { BenchDatabase } from '../database.ts';
import { residentOf } from '../platform/memory.ts';
import { quantile } from '../statistics.ts';
import { batchOf, drawPlays, type PlayingScreen } from './plays.ts';
import type { Seeded } from './seed.ts';

/** What a device tells of in an interval. */
const each = { plays: 6, visits: 2 };
const playMs = 10_000;

/** Plays of each screen one after the other for so many hours until now, and a location's visits, in whose zones they were seen. */
export async function seedHours(database: BenchDatabase, { account, campaign }: Seeded, hours: number): Promise<void> {
  await database.sql(
    `INSERT INTO plays (account_id, event_id, device_id, location_id, zone_id, screen_id, campaign_id, campaign_ad_id, version,
       started_at, ended_at, completed, holdout, received_at, clock_offset_ms)
     SELECT $1, uuidv7(), 'dev_1', location_id, zone_id, id, $2, 'cad_1', 1, start, start + interval '10 s', true, n % 10 = 0, now(), 0
     FROM known_screens, generate_series(1, ${(hours * 3_600_000) / playMs}) AS n,
       LATERAL (SELECT now() - n * interval '10 s' AS start) AS times`,
    [account, campaign],
  );
  await database.sql(
    `INSERT INTO visits (account_id, event_id, device_id, location_id, visitor_key, entered_at, left_at, zones, received_at,
       clock_offset_ms)
     SELECT $1, uuidv7(), 'dev_1', location_id, left(md5(id || n), 22), start, start + interval '5 min',
       jsonb_build_array(jsonb_build_object('zone_id', zone_id, 'start', ms, 'end', ms + 300000)), now(), 0
     FROM known_screens, generate_series(1, ${hours * 20}) AS n,
       LATERAL (SELECT now() - n * interval '3 min' AS start) AS times,
       LATERAL (SELECT floor(extract(epoch FROM start) * 1000)::bigint AS ms) AS instants`,
    [account],
  );
  await database.sql('VACUUM ANALYZE');
}

function drawVisits({ location }: PlayingScreen) {
  const now = Date.now();
  const stay = { entered_at: new Date(now - 60_000).toISOString(), left_at: new Date(now - 1_000).toISOString() };
  const items = Array.from({ length: each.visits }, () => {
    const id = newUuid();
    return { event_id: id, visitor_key: id.replaceAll('-', ''), location_id: location, ...stay };
  });
  return { items: items.length, body: Buffer.from(JSON.stringify({ sent_at: stay.left_at, items })) };
}

/** Every device tells once in an interval, at a moment of its own, until the time is over. Resolves to the batches. */
export async function tellSteadily(
  screens: readonly PlayingScreen[],
  { seconds, interval }: { readonly seconds: number; readonly interval: number },
): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let batches = 0;
  await Promise.all(
    screens.map(async (screen) => {
      await sleep(Math.random() * interval * 1_000);
      for (let next = performance.now(); next < end; ) {
        await screen.device.send('/v2/device/plays', batchOf(drawPlays(screen, each.plays)));
        await screen.device.send('/v2/device/visits', drawVisits(screen));
        batches += 2;
        next += interval * 1_000;
        await sleep(Math.max(0, next - performance.now()));
      }
    }),
  );
  return batches;
}

/** What a worker has before it, and what it holds. */
interface Load {
  /** How long the oldest mark waits, in seconds. */
  readonly behind: number;
  /** Events that are not published. */
  readonly unpublished: number;
  /** Megabytes; undefined where the system does not say. */
  readonly resident: number | undefined;
}

const summary = (looks: readonly Load[]) => {
  const behind = looks.map((look) => look.behind);
  return `${quantile(behind, 0.5).toFixed(1)} s behind, ${Math.max(...behind).toFixed(1)} at most`;
};

/** Looks once a second until `stop`, which resolves to what was seen; says it of every half minute. */
export async function watchWorker(database: BenchDatabase, pid: number, say: (line: string) => void) {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const seen: Load[] = [];
  let stopped = false;
  const look = `SELECT coalesce(extract(epoch FROM now() - min(marked_at)), 0)::float8 AS behind,
    (SELECT count(*)::int FROM outbox) AS unpublished FROM dirty_hours`;
  const watching = (async () => {
    while (!stopped) {
      const { rows } = await client.query<Omit<Load, 'resident'>>(look);
      for (const row of rows) seen.push({ ...row, resident: await residentOf(pid) });
      if (seen.length % 30 === 0) say(`  ${seen.length} s: ${summary(seen.slice(-30))}`);
      await sleep(1_000);
    }
  })();
  return {
    async stop(): Promise<readonly Load[]> {
      stopped = true;
      await watching.finally(() => client.end());
      return seen;
    },
  };
}
