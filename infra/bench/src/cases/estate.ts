import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner, generateKeySets } from '@attribution/auth';
import { createClient, getEstateImport, importEstate } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import pg from 'pg';
import { type Case, compact, compare, type Row, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { compareServers, withDatabase } from '../endpoints/compare-servers.ts';
import { unlimited } from '../endpoints/seed.ts';
import { serviceSettings } from '../endpoints/settings.ts';
import { type Chain, copyChain, makeChain } from '../estate/file.ts';
import { seedEstate } from '../estate/seed.ts';
import { residentOf } from '../platform/memory.ts';
import { type BenchServer, startServer } from '../server.ts';
import { load } from '../wrk.ts';

const bars = { narrowed: 1 / 1.5, match: 1 / 2, import: 0.3, memory: 100 };
const keys = generateKeySets('bench');
const large = { groups: 500, locations: 10_000, zones: 40_000, screens: 100_000 };
const sizeOf = ({ smoke }: Tools) => (smoke ? { groups: 50, locations: 200, zones: 400, screens: 800 } : large);
/** With as many locations in a group as the large estate. */
const small = { groups: 5, locations: 100, zones: 400, screens: 1_000 };

const start = (database: BenchDatabase, relay: 'on' | 'off', nodeArguments: readonly string[] = []) =>
  startServer(
    new URL('../endpoints/service.server.ts', import.meta.url),
    {
      ...serviceSettings(keys, 'organization'),
      SERVICE: 'organization',
      DATABASE_URL: database.url,
      RELAY: relay,
    },
    'measured',
    nodeArguments,
  );

/** A small heap, so that garbage is collected: otherwise it stays while the machine has room, and hides what an import needs. */
const smallHeap = ['--max-old-space-size=128', '--max-semi-space-size=8'];

function tokenOf(account: string, groups?: readonly string[]): string {
  const narrowed = groups && {
    role: 'member',
    group_scope: 'selected',
    groups: Object.fromEntries(groups.map((id) => [id, 'm'])),
  };
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network', sid: newUuid(), ...narrowed };
  return createSigner(keys.private).sign('at+jwt', claims, 3_600);
}

export const estateNarrowed: Case = {
  name: 'estate: narrowed page',
  run: (tools) =>
    withDatabase(tools, 'organization', (first) =>
      withDatabase(tools, 'organization', async (second) => {
        tools.say('  filling: 10,000 locations beside 100');
        const [many, few] = await Promise.all([seedEstate(first, sizeOf(tools)), seedEstate(second, small)]);
        const [ours, other] = await Promise.all([start(first, 'off'), start(second, 'off')]);
        const compared = await compareServers(tools, ours, other, async (url) => {
          const { account, groups } = url === ours.url ? many : few;
          const headers = { authorization: `Bearer ${tokenOf(account, groups.slice(0, 3))}` };
          return (await load({ url: `${url}/v2/locations?limit=50`, seconds: tools.seconds, headers })).rate;
        });
        return [
          rateRow('Locations of 3 of 500 groups (10,000 locations) beside 3 of 5 (100)', compared, bars.narrowed),
        ];
      }),
    ),
};

/** The two queries of a match, written by hand. */
async function bareMatch(client: pg.Client, account: string, tags: string[]): Promise<void> {
  await client.query(
    { name: 'counts', text: 'SELECT group_id, count(*) FROM screens WHERE account_id = $1 AND tags && $2 GROUP BY 1' },
    [account, tags],
  );
  await client.query(
    { name: 'page', text: 'SELECT * FROM screens WHERE account_id = $1 AND tags && $2 ORDER BY id LIMIT 51' },
    [account, tags],
  );
}

/** Repeats the work for some seconds. Resolves to the number of repetitions per second. */
async function rateOf(seconds: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  let done = 0;
  for (; performance.now() - started < seconds * 1_000; done++) await work();
  return (done / (performance.now() - started)) * 1_000;
}

export const estateMatch: Case = {
  name: 'estate: match',
  run: (tools) =>
    withDatabase(tools, 'organization', async (database) => {
      tools.say('  filling: 100,000 screens');
      const { account } = await seedEstate(database, sizeOf(tools));
      const server = await start(database, 'off');
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      const headers = { authorization: `Bearer ${tokenOf(account)}` };
      const rows: Row[] = [];
      try {
        for (const [what, tag] of [
          ['all', 'window'],
          ['a tenth', 'tag3'],
        ] as const) {
          const match = async () => {
            const response = await fetch(`${server.url}/v2/screens/match?tags=${tag}`, { headers });
            if (response.status !== 200) throw new Error(await response.text());
            await response.json();
          };
          const compared = await compare(
            tools,
            () => rateOf(tools.seconds, match),
            () => rateOf(tools.seconds, () => bareMatch(client, account, [tag])),
          );
          rows.push(rateRow(`Match over 100,000 screens, ${what} of them, beside its bare SQL`, compared, bars.match));
        }
      } finally {
        await Promise.all([client.end(), server.stop()]);
      }
      return rows;
    }),
};

/** Imports the chain into a new account. Resolves to the seconds that it took, and by how many MB memory grew. */
async function importChain(
  database: BenchDatabase,
  server: BenchServer,
  { csv, rows }: Chain,
): Promise<{ seconds: number; grown: number }> {
  const account = newId('account');
  await database.sql(unlimited, [[account]]);
  const client = createClient({ baseUrl: server.url, token: tokenOf(account) });
  const before = (await residentOf(server.pid)) ?? 0;
  let most = before;
  const started = performance.now();
  const sent = await client.call(importEstate, { upload: { media: 'text/csv', content: csv } });
  for (;;) {
    await sleep(50);
    most = Math.max(most, (await residentOf(server.pid)) ?? 0);
    const { body } = await client.call(getEstateImport, { params: { id: sent.body?.id ?? '' } });
    if (body?.status === 'failed') throw new Error(body.error ?? '');
    if (body?.status !== 'succeeded') continue;
    if (body.rows.created !== rows) throw new Error(`Of ${rows} rows ${body.rows.created} were created`);
    return { seconds: (performance.now() - started) / 1_000, grown: most - before };
  }
}

export const estateImport: Case = {
  name: 'estate: import',
  run: (tools) =>
    withDatabase(tools, 'organization', async (database) => {
      const chain = makeChain(tools.smoke ? 400 : undefined);
      const empty = () => database.sql('TRUNCATE groups, outbox, estate_imports CASCADE');
      const server = await start(database, 'on', tools.smoke ? smallHeap : []);
      const compared = await compare(
        tools,
        async () => {
          await empty();
          return chain.rows / (await importChain(database, server, chain)).seconds;
        },
        async () => {
          await empty();
          return chain.rows / (await copyChain(database, chain));
        },
      ).finally(() => tools.smoke || server.stop());
      await empty();
      const confined = tools.smoke ? server : await start(database, 'on', smallHeap);
      const { grown } = await importChain(database, confined, chain).finally(() => confined.stop());
      return [
        rateRow('Import of 100,000 rows beside COPY of the same: rows', compared, bars.import),
        {
          what: 'Resident memory that an import of 100,000 rows adds, where the heap may have 128 MB',
          ours: `${compact(grown)} MB`,
          beside: '',
          bar: `< ${bars.memory} MB`,
          holds: grown < bars.memory,
        },
      ];
    }),
};
