import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Case, compare, costRow } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import {
  type Busy,
  bareDeletes,
  bareFacts,
  bareIndex,
  barePlays,
  bareTables,
  checksum,
  day,
  seedDay,
} from '../events/busy-day.ts';
import { type Seeded, seedAccount } from '../events/seed.ts';
import { startEvents } from '../events/service.ts';

const bar = 2;
/** Days that are recomputed at once: as many as a worker has in its hands. */
const atOnce = 4;

/** Marks every hour of all days, and waits for the job. Resolves to the milliseconds of one day. */
async function recompute(database: BenchDatabase, client: pg.Client, { account, locations }: Seeded): Promise<number> {
  await database.sql(
    `INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
     SELECT $1, location, '${day}'::timestamp AT TIME ZONE 'UTC' + hour * interval '1 h', now()
     FROM unnest($2::text[]) AS location, generate_series(0, 23) AS hour`,
    [account, locations],
  );
  const left = { name: 'left', text: 'SELECT count(DISTINCT location_id)::int AS left FROM dirty_hours' };
  // The job looks for marks once a second: what is measured begins when the first day is done.
  let [first, began] = [0, 0];
  for (;;) {
    const remaining = (await client.query<{ left: number }>(left)).rows[0]?.left ?? 0;
    if (began === 0 && remaining < locations.length) [first, began] = [remaining, performance.now()];
    if (remaining === 0) return (performance.now() - began) / Math.max(1, first);
    await sleep(5);
  }
}

/** The same by SQL alone. Resolves to the milliseconds of one day. */
async function recomputeBare(clients: readonly pg.Client[], { account, locations }: Seeded, longest: number) {
  const places = locations.values();
  const began = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (const location of places) {
        await client.query('BEGIN');
        for (const text of bareDeletes) await client.query(text, [account, location, day]);
        await client.query(barePlays, [account, location, day]);
        await client.query(bareIndex);
        await client.query(bareFacts, [account, location, day, longest]);
        await client.query('COMMIT');
      }
    }),
  );
  return (performance.now() - began) / locations.length;
}

/** A comparison means something only if both make the same. */
async function checkSame(client: pg.Client): Promise<void> {
  const sums = async (prefix: '' | 'bare_') => (await client.query<{ sums: string }>(checksum(prefix))).rows[0]?.sums;
  const [ours, theirs] = [await sums(''), await sums('bare_')];
  if (ours !== theirs) throw new Error(`${ours} beside ${theirs}`);
}

export const eventsRecompute: Case = {
  name: 'events: recompute',
  run: (tools) =>
    withDatabase(tools, 'events', async (database) => {
      const busy: Busy = tools.smoke ? { plays: 480, dwells: 60 } : { plays: 17_280, dwells: 6_000 };
      const seeded = await seedAccount(database, tools.smoke ? 2 : 8);
      const server = await startEvents(database, { RELAY: 'on' });
      const clients = Array.from({ length: atOnce }, () => new pg.Client({ connectionString: database.url }));
      await Promise.all(clients.map((client) => client.connect()));
      const [client] = clients as [pg.Client];
      try {
        tools.say(
          `  filling: ${seeded.locations.length} locations with ${busy.dwells} dwells and ${busy.plays} plays of a day`,
        );
        await seedDay(database, seeded, busy);
        await database.sql(bareTables);
        const longest = (2 * 86_400) / busy.plays;
        const bare = () => recomputeBare(clients, seeded, longest);
        await recompute(database, client, seeded);
        await bare();
        await checkSame(client);
        await database.sql('VACUUM ANALYZE');
        const compared = await compare(tools, () => recompute(database, client, seeded), bare);
        return [costRow('A location-day of 6,000 dwells and 17,280 plays beside SQL', compared, bar, 'ms')];
      } finally {
        await Promise.all(clients.map((one) => one.end()));
        await server.stop();
      }
    }),
};
