import {
  createBlacklistEntry,
  deleteBlacklistEntry,
  getBlacklistEntry,
  getCampaignLift,
  getCampaignPerformance,
  getCampaignTimeseries,
  getVisitsDwell,
  getVisitsTimeseries,
  listBlacklist,
  listCohorts,
  listPlays,
  listQuarantine,
  rebuildRollups,
  sendPlays,
  sendVisits,
  summarizeLoyalty,
  summarizeVisits,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import {
  countRecords,
  countStatements,
  internalToken,
  numbersOf,
  oneRecordEach,
  type StatementTable,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addressesOf, batch, newVisitor, newWorld, startWithPast } from './support.ts';
import { plant, visitAt } from './support-figures.ts';
import { type Owners, startOwners } from './support-owners.ts';

let service: TestService;
let owners: Owners;
beforeAll(async () => {
  owners = await startOwners();
  service = await startWithPast(addressesOf(owners));
});
afterAll(async () => {
  await service.stop();
  owners.stop();
});

async function known() {
  const world = newWorld();
  await world.tell(service);
  return { ...world, client: world.player(service) };
}
const times = (count: number) => Array.from({ length: count });

/** So many plays of a campaign. */
async function played(rows: number) {
  const { client, play, campaign, as } = await known();
  await client.call(
    sendPlays,
    batch(
      service,
      times(rows).map(() => play(service)),
    ),
  );
  return { owner: as(service), params: { id: campaign } };
}

const table: StatementTable = {
  send_visits: {
    statements: 4,
    async prepare(rows) {
      const { client, visit } = await known();
      return () =>
        client.call(
          sendVisits,
          batch(
            service,
            times(rows).map(() => visit(service)),
          ),
        );
    },
  },
  send_plays: {
    statements: 5,
    async prepare(rows) {
      const { client, play } = await known();
      return () =>
        client.call(
          sendPlays,
          batch(
            service,
            times(rows).map(() => play(service)),
          ),
        );
    },
  },
  summarize_visits: {
    statements: 1,
    async prepare(rows) {
      const { client, visit, as } = await known();
      await client.call(
        sendVisits,
        batch(
          service,
          times(rows).map(() => visit(service)),
        ),
      );
      return () => as(service).call(summarizeVisits);
    },
  },
  get_visits_timeseries: {
    statements: 1,
    async prepare(rows) {
      const world = await known();
      await plant(service, world, {
        visits: times(rows).map((_, n) => visitAt(world.location.id, (40 + n) * 86_400_000)),
      });
      return () => world.as(service).call(getVisitsTimeseries);
    },
  },
  get_visits_dwell: {
    statements: 1,
    async prepare(rows) {
      const world = await known();
      const zones = times(rows).map(() => ({ zone_id: newId('zone'), start: 0, end: 1_000 }));
      await plant(service, world, { visits: [visitAt(world.location.id, 40 * 86_400_000, { zones })] });
      return () => world.as(service).call(getVisitsDwell);
    },
  },
  // The second statement goes by the time zones that the first has found.
  list_plays: {
    statements: 4,
    async prepare(rows) {
      const { client, play, as } = await known();
      const items = times(rows).map(() => play(service));
      await client.call(sendPlays, batch(service, items));
      return () => as(service).call(listPlays);
    },
  },
  list_quarantine: {
    statements: 1,
    async prepare(rows) {
      const { client, visit, as } = await known();
      const items = times(rows).map(() => visit(service, [-60, -90]));
      await client.call(sendVisits, batch(service, items));
      return () => as(service).call(listQuarantine);
    },
  },
  summarize_loyalty: { statements: 1, prepare: async () => ofNobody(summarizeLoyalty) },
  list_cohorts: { statements: 1, prepare: async () => ofNobody(listCohorts) },
  rebuild_rollups: {
    statements: 3,
    async prepare(rows) {
      const { account, as, client, visit } = await known();
      const items = times(rows).map(() => visit(service));
      await client.call(sendVisits, batch(service, items));
      await as(service).call(summarizeVisits);
      const token = internalToken('events', 'events');
      return () => service.client.with({ token }).call(rebuildRollups, { body: { account_id: account } });
    },
  },
  list_blacklist: {
    statements: 1,
    async prepare(rows) {
      const owner = (await known()).as(service);
      for (const _ of times(rows)) await owner.call(createBlacklistEntry, { body: newEntry() });
      return () => owner.call(listBlacklist);
    },
  },
  create_blacklist_entry: {
    statements: 7,
    async prepare() {
      const { as, location } = await known();
      return () => as(service).call(createBlacklistEntry, { body: { ...newEntry(), location_id: location.id } });
    },
  },
  get_blacklist_entry: { statements: 1, prepare: async () => withEntry(getBlacklistEntry) },
  delete_blacklist_entry: { statements: 7, prepare: async () => withEntry(deleteBlacklistEntry) },
  get_campaign_performance: {
    statements: 1,
    async prepare(rows) {
      const { owner, params } = await played(rows);
      return () => owner.call(getCampaignPerformance, { params });
    },
  },
  get_campaign_timeseries: {
    statements: 1,
    async prepare(rows) {
      const { owner, params } = await played(rows);
      return () => owner.call(getCampaignTimeseries, { params });
    },
  },
  get_campaign_lift: {
    statements: 4,
    async prepare(rows) {
      const { owner, params } = await played(rows);
      return () => owner.call(getCampaignLift, { params });
    },
  },
};

async function ofNobody(endpoint: typeof summarizeLoyalty | typeof listCohorts) {
  const owner = (await known()).as(service);
  return () => owner.call(endpoint as typeof summarizeLoyalty);
}

const newEntry = () => ({ visitor_key: newVisitor(), reason: 'staff' as const });

async function withEntry(endpoint: typeof getBlacklistEntry | typeof deleteBlacklistEntry) {
  const owner = (await known()).as(service);
  const { id } = (await owner.call(createBlacklistEntry, { body: newEntry() })).body;
  return () => owner.call(endpoint as typeof getBlacklistEntry, { params: { id } });
}

test('each change by a person or key leaves one audit record', async () => {
  expect(await countRecords(service, 'events', table)).toEqual(oneRecordEach('events'));
});

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'events', table, rows)).toEqual(numbersOf(table));
});
