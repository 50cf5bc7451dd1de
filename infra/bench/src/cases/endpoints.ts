import { createSigner, generateKeySets } from '@attribution/auth';
import { newId, newUuid } from '@attribution/ids';
import { type Case, compare, type Row, rateRow, type Tools } from '../case.ts';
import { type BenchDatabase, createBenchDatabase } from '../database.ts';
import { type BenchRequest, loadWith, requireSameAnswer } from '../endpoints/requests.ts';
import { seedCampaigns, seedEstate } from '../endpoints/seed.ts';
import { serviceSettings } from '../endpoints/settings.ts';
import { type BenchServer, startServer } from '../server.ts';

const bar = 0.4;

interface Measured {
  readonly what: string;
  /** The request of the account at this index. */
  request(place: number): Omit<BenchRequest, 'headers'>;
  /** Tables that it fills. They are emptied before each run of either side, so that rows of an earlier run slow none. */
  readonly fills?: string;
  /** Lets the service's relay publish during the run. The bare side has no relay, so the figure has no bar. */
  readonly relayed?: true;
}

interface Area {
  readonly service: string;
  seed(database: BenchDatabase, accounts: readonly string[]): Promise<readonly Measured[]>;
}

const page = 20;

const areas: readonly Area[] = [
  {
    service: 'organization',
    async seed(database, accounts) {
      const homes = await seedEstate(database, accounts);
      const homeOf = (place: number) => homes[place] as (typeof homes)[number];
      return [
        {
          what: 'GET /v2/locations/{id}',
          request: (place) => ({ method: 'GET', path: `/v2/locations/${homeOf(place).location}` }),
        },
        {
          what: `GET /v2/locations, ${page} rows`,
          request: () => ({ method: 'GET', path: `/v2/locations?limit=${page}` }),
        },
        {
          what: 'POST /v2/locations',
          request: (place) => ({ method: 'POST', path: '/v2/locations', body: newLocation(homeOf(place).group) }),
          fills: 'locations, outbox',
        },
        {
          what: 'POST /v2/groups',
          request: () => ({ method: 'POST', path: '/v2/groups', body: newGroup }),
          fills: 'groups, locations, outbox',
        },
        {
          what: 'POST /v2/groups, its events published meanwhile',
          request: () => ({ method: 'POST', path: '/v2/groups', body: newGroup }),
          fills: 'groups, locations, outbox',
          relayed: true,
        },
      ];
    },
  },
  {
    service: 'campaign',
    async seed(database, accounts) {
      await seedCampaigns(database, accounts);
      return [
        {
          what: `GET /v2/campaigns, ${page} rows`,
          request: () => ({ method: 'GET', path: `/v2/campaigns?limit=${page}` }),
        },
        {
          what: 'POST /v2/campaigns',
          request: () => ({ method: 'POST', path: '/v2/campaigns', body: newCampaign }),
          fills: 'campaigns, campaign_ads, outbox',
        },
      ];
    },
  },
  {
    service: 'account',
    async seed() {
      return [{ what: 'GET /v2/plans', request: () => ({ method: 'GET', path: '/v2/plans' }) }];
    },
  },
];

const newGroup = { name: 'Zurich', description: 'Shops in the city' };

const newLocation = (group: string) => ({
  group_id: group,
  name: 'Bahnhofstrasse',
  timezone: 'Europe/Zurich',
  address: 'Bahnhofstrasse 1, 8001 Zurich',
  venue_type: 'retail.malls',
  opening_hours: { mon: [{ opens: '09:00', closes: '18:30' }] },
});

const newCampaign = {
  name: 'Spring sale',
  brief: { version: 1, product: 'Trail shoe X2', objective: 'Bring runners into the shops', outcome: null },
  start_date: '2026-03-01',
  end_date: '2026-03-31',
  priority: 10,
};

/** Accounts that call in turn: creates of a single one would wait for each other, because its events are ordered. */
const allAccounts = Array.from({ length: 64 }, () => newId('account'));
const accountsOf = ({ smoke }: Tools) => (smoke ? allAccounts.slice(0, 4) : allAccounts);
const keys = generateKeySets('bench');
const signer = createSigner(keys.private);
const hour = 60 * 60;
const callers = allAccounts.map((account) => {
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network', sid: newUuid() };
  return { authorization: `Bearer ${signer.sign('at+jwt', claims, hour)}` };
});

/**
 * Compares each service with plain Express and prepared statements on the same database. Each side has one process for all
 * endpoints of a service, as in production. The relay runs only for `relayed` requests; where figures do not matter, for all,
 * so that each side starts once.
 */
export const endpoints: Case = {
  name: 'endpoints',
  async run(tools) {
    const rows: Row[] = [];
    for (const area of areas) rows.push(...(await measureArea(area, tools)));
    return rows;
  },
};

async function measureArea({ service, seed }: Area, tools: Tools): Promise<Row[]> {
  const database = await createBenchDatabase(tools.postgresUrl, service);
  try {
    const rows: Row[] = [];
    const all = await seed(database, accountsOf(tools));
    for (const relayed of [false, true]) {
      const some = all.filter((measured) => (measured.relayed ?? tools.smoke) === relayed);
      if (some.length === 0) continue;
      const sides = await startSides(service, database, relayed);
      try {
        for (const measured of some) rows.push(await measure(measured, sides, database, tools));
      } finally {
        await Promise.all([sides.ours.stop(), sides.bare.stop()]);
      }
    }
    return rows;
  } finally {
    await database.drop();
  }
}

interface Sides {
  readonly ours: BenchServer;
  readonly bare: BenchServer;
}

async function startSides(service: string, database: BenchDatabase, relayed: boolean): Promise<Sides> {
  const environment = {
    ...serviceSettings(keys),
    SERVICE: service,
    DATABASE_URL: database.url,
    RELAY: relayed ? 'on' : 'off',
  };
  const [ours, bare] = await Promise.all([
    startServer(new URL('../endpoints/service.server.ts', import.meta.url), environment),
    startServer(new URL('../endpoints/bare.server.ts', import.meta.url), environment),
  ]);
  return { ours, bare };
}

async function measure(
  { what, request, fills, relayed }: Measured,
  { ours, bare }: Sides,
  database: BenchDatabase,
  tools: Tools,
): Promise<Row> {
  tools.say(what);
  const accounts = accountsOf(tools);
  const ofOurs = accounts.map((_, place): BenchRequest => ({ ...request(place), headers: callers[place] ?? {} }));
  const ofBare = accounts.map(
    (account, place): BenchRequest => ({ ...request(place), headers: { 'x-account': account } }),
  );
  const run = async (url: string, sent: readonly BenchRequest[]) => {
    if (fills) await database.sql(`TRUNCATE ${fills} CASCADE`); // Other tables refer to these, but have no rows.
    return (await loadWith(url, tools.seconds, sent)).rate;
  };
  const [first, second] = [ofOurs[0], ofBare[0]];
  if (first && second) await requireSameAnswer(ours.url, bare.url, first, second);
  const compared = await compare(
    tools,
    () => run(ours.url, ofOurs),
    () => run(bare.url, ofBare),
  );
  return rateRow(what, compared, relayed ? undefined : bar);
}
