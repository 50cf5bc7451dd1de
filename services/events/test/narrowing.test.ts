import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addressesOf, newVisitor, startWithPast } from './support.ts';
import { type Owners, startOwners } from './support-owners.ts';
import {
  at,
  type Figures,
  from,
  type Group,
  groupOf,
  groups,
  newPlaces,
  ownPlaces,
  type Place,
  type Places,
  places,
  recountIn,
} from './support-places.ts';

let service: TestService;
let owners: Owners;
let world: Places;
beforeAll(async () => {
  owners = await startOwners();
  service = await startWithPast(addressesOf(owners));
  world = await newPlaces(service, owners);
});
afterAll(async () => {
  await service.stop();
  owners.stop();
});

const inA = ['A', 'moved'] as const;

type Claims = NonNullable<Parameters<typeof personToken>[0]>;

/** A caller, and what follows from who it is. The campaign that is asked about is of group A. */
interface Caller {
  readonly sees: readonly Place[];
  readonly seesCampaign: boolean;
  readonly seesQuarantine: boolean;
  readonly writes: boolean;
  /** False: no figure at all. */
  readonly mayRead?: false;
  readonly token: (claims: Claims) => string;
  readonly claims?: Claims;
  /** The groups in the claims; undefined for the whole account. */
  readonly holds?: readonly Group[];
}

const person = (role: 'owner' | 'admin' | 'member' | 'viewer') => (claims: Claims) => personToken({ role, ...claims });
const key = (readonly: boolean) => (claims: Claims) =>
  keyToken({ role: 'member', key: { type: 'api', readonly }, ...claims });
const everything = { sees: ownPlaces, seesCampaign: true, seesQuarantine: true };
const nothing = { sees: [], seesCampaign: false, seesQuarantine: false };
const ofA = { sees: inA, seesCampaign: true, seesQuarantine: false, holds: ['A'] } as const;

/** Who sees what. Every expectation below is derived from this table. */
const callers: Readonly<Record<string, Caller>> = {
  'an owner': { ...everything, writes: true, token: person('owner') },
  'an admin by role, narrowed to A': { ...ofA, writes: true, token: person('admin') },
  'a member': { ...everything, writes: true, token: person('member') },
  'a member of A': { ...ofA, writes: true, token: person('member') },
  'a member of B': { ...nothing, sees: ['B'], writes: true, token: person('member'), holds: ['B'] },
  'a member of A and B': {
    ...{ sees: ['A', 'B', 'moved'], seesCampaign: true, seesQuarantine: false },
    ...{ writes: true, token: person('member'), holds: ['A', 'B'] },
  },
  'a member narrowed to nothing': { ...nothing, writes: true, token: person('member'), holds: [] },
  'a member of a group of another account': { ...nothing, writes: true, token: person('member'), holds: ['elsewhere'] },
  'a viewer': { ...everything, writes: false, token: person('viewer') },
  'a viewer of A': { ...ofA, writes: false, token: person('viewer') },
  'a key': { ...everything, writes: true, token: key(false) },
  'a key of A': { ...ofA, writes: true, token: key(false) },
  'a read-only key of A': { ...ofA, writes: false, token: key(true) },
  'a key that may only read events': {
    ...everything,
    writes: false,
    token: key(false),
    claims: { svc: { events: 'r' } },
  },
  'a key without events': {
    ...{ ...nothing, writes: false, mayRead: false },
    ...{ token: key(false), claims: { svc: { campaign: 'w' } } },
  },
  'a support session': { ...everything, writes: false, token: supportToken },
  'the owner of the other account': {
    ...{ sees: ['elsewhere'], seesCampaign: false, seesQuarantine: true, writes: true },
    token: (claims) => personToken({ ...claims, account: world.other.account }),
  },
};

function clientOf({ token, holds, claims }: Caller) {
  const named = holds && Object.fromEntries(holds.map((group) => [world.groupIds[group], 'm' as const]));
  const narrowed = named && { group_scope: 'selected' as const, groups: named };
  return service.client.with({ token: token({ account: world.chain.account, ...claims, ...narrowed }) });
}
type Client = ReturnType<typeof clientOf>;

/** A choice of places by filters. Those that are unknown or out of sight match nothing. */
interface Choice {
  readonly locations?: readonly (Place | 'unknown')[] | undefined;
  readonly groups?: readonly (Group | 'unknown')[];
}
const choices: readonly Choice[] = [
  {},
  ...places.map((place) => ({ locations: [place] })),
  { locations: [...places, 'unknown'] },
  ...groups.map((group) => ({ groups: [group] })),
  { locations: ['A', 'B', 'moved'], groups: ['B', 'elsewhere', 'unknown'] },
];

const queryOf = ({ locations, groups: chosen }: Choice) => ({
  from,
  ...(locations && {
    location_ids: locations
      .map((one) => (one === 'unknown' ? newId('location') : world.located[one].location.id))
      .join(','),
  }),
  ...(chosen && {
    group_ids: chosen.map((one) => (one === 'unknown' ? newId('group') : world.groupIds[one])).join(','),
  }),
});

const chosenOf = ({ sees }: Caller, { locations, groups: chosen }: Choice) =>
  sees.filter((place) => (locations?.includes(place) ?? true) && (chosen?.includes(groupOf[place]) ?? true));

type Query = ReturnType<typeof queryOf>;
const params = () => ({ id: world.campaign });

/** What each endpoint says in a scope, as the recount says it. */
const visitFigures = {
  summary: async (client: Client, query: Query) => {
    const { visits, visitors, new_visitors } = (await client.call(contracts.summarizeVisits, { query })).body;
    return { visits, visitors, new_visitors };
  },
  timeseries: async (client: Client, query: Query) => {
    const { buckets } = (await client.call(contracts.getVisitsTimeseries, { query })).body;
    return buckets.filter(({ visits }) => visits > 0).map(({ date, visits }) => [date, visits] as const);
  },
  dwell: async (client: Client, query: Query) => {
    const { overall, entries } = (await client.call(contracts.getVisitsDwell, { query })).body;
    return { visits: overall.visits, zones: entries.map(({ zone_id, visits }) => [zone_id, visits] as const) };
  },
  plays: async (client: Client, query: Query) => {
    const { entries } = (await client.call(contracts.listPlays, { query: { ...query, limit: 200 } })).body;
    return entries.map(({ location_id, started_at }) => `${location_id} ${at(started_at)}`).toSorted();
  },
  loyalty: async (client: Client, query: Query) => {
    const { visitors, new_visitors, frequency } = (await client.call(contracts.summarizeLoyalty, { query })).body;
    const often = frequency.flatMap((row) => Array.from({ length: row.visitors }, () => row.visits));
    return { visitors, new_visitors, often };
  },
  cohorts: async (client: Client, query: Query) => {
    const { cohorts } = (await client.call(contracts.listCohorts, { query })).body;
    return cohorts.map(({ date, visitors }) => [date, visitors]);
  },
} satisfies { [K in keyof Figures]?: (client: Client, query: Query) => Promise<Figures[K] | unknown> };

const campaignFigures = {
  performance: async (client: Client, query: Query) => {
    const {
      from: _,
      to,
      as_of,
      conversion,
      ...figures
    } = (await client.call(contracts.getCampaignPerformance, { params: params(), query })).body;
    const { kind, window, ...counted } = conversion;
    return { ...figures, conversion: counted };
  },
  series: async (client: Client, query: Query) => {
    const { body } = await client.call(contracts.getCampaignTimeseries, { params: params(), query });
    return body.buckets.filter(({ plays, exposed_visits }) => plays + exposed_visits > 0);
  },
  lift: async (client: Client, query: Query) => {
    const { design, exposed, control } = (await client.call(contracts.getCampaignLift, { params: params(), query }))
      .body;
    return { design, exposed: exposed.visitors, control: control.visitors };
  },
};

/** As it is on the wire, with as many digits as a sum in another order keeps. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) => (typeof one === 'number' ? +one.toPrecision(12) : one));

const figureEndpoints = [
  ...[contracts.summarizeVisits, contracts.getVisitsTimeseries, contracts.getVisitsDwell, contracts.listPlays],
  ...[contracts.summarizeLoyalty, contracts.listCohorts],
];
const campaignEndpoints = [
  ...[contracts.getCampaignPerformance, contracts.getCampaignTimeseries, contracts.getCampaignLift],
];
const listings = [contracts.listQuarantine];
const ofBlacklist = [
  ...[contracts.listBlacklist, contracts.createBlacklistEntry],
  ...[contracts.getBlacklistEntry, contracts.deleteBlacklistEntry],
];

test('every endpoint of the area is called below: a new one needs an entry', () => {
  const area = contracts.endpoints.filter((one) => one.service === 'events');
  const called = [...figureEndpoints, ...campaignEndpoints, ...listings, ...ofBlacklist];
  expect(area.map(({ operation }) => operation).toSorted()).toEqual(
    called.map(({ operation }) => operation).toSorted(),
  );
});

describe.each(Object.entries(callers))('%s', (_, caller) => {
  test('gets every figure of exactly the places that the table says, by whatever filter', async () => {
    const client = clientOf(caller);
    if (caller.mayRead === false) {
      for (const endpoint of [...figureEndpoints, ...listings])
        expect([endpoint.operation, (await client.call(endpoint)).status]).toEqual([endpoint.operation, 403]);
      for (const endpoint of campaignEndpoints)
        expect((await client.call(endpoint, { params: params() })).status).toBe(403);
      return;
    }
    const asked = { ...visitFigures, ...(caller.seesCampaign && campaignFigures) };
    const answers = choices.flatMap((choice) => {
      const expected = recountIn(world, chosenOf(caller, choice), service.clock.now().getTime());
      return Object.entries(asked).map(async ([name, ask]) => ({
        told: { choice, [name]: plain(await ask(client, queryOf(choice))) },
        expected: { choice, [name]: plain(expected[name as keyof Figures]) },
      }));
    });
    for (const { told, expected } of await Promise.all(answers)) expect(told).toEqual(expected);
    const query = { ...queryOf({}), limit: 200, campaign_ids: world.campaign };
    const { entries } = (await client.call(contracts.listPlays, { query })).body;
    const all = recountIn(world, caller.sees, 0).plays.length;
    // Nobody of another account has plays of the campaign.
    expect(entries).toHaveLength(caller.holds && !caller.seesCampaign ? 0 : all);
    if (!caller.seesCampaign)
      for (const endpoint of campaignEndpoints) {
        const hidden = await client.call(endpoint, { params: params() });
        const unknown = await client.call(endpoint, { params: { id: newId('campaign') } });
        expect([endpoint.operation, hidden.status, hidden.problem]).toEqual([endpoint.operation, 404, unknown.problem]);
      }
  });

  test('sees, makes and deletes exactly the entries of the blacklist that the table says', async () => {
    const client = clientOf(caller);
    const { visitor_key, entries } = await newEntries();
    const isSeen = (place: Spot) =>
      place === 'everywhere' ? caller.holds === undefined && caller.sees.includes('A') : caller.sees.includes(place);
    for (const { locations } of choices.filter((choice) => choice.groups === undefined)) {
      const { location_ids } = queryOf({ locations });
      const listed = await client.call(contracts.listBlacklist, { query: { visitor_key, location_ids } });
      if (caller.mayRead === false) {
        expect(listed.status).toBe(403);
        continue;
      }
      const chosen = entries.filter(
        ({ place }) => isSeen(place) && (locations as Spot[] | undefined)?.includes(place) !== false,
      );
      expect([locations, listed.body.entries.map(({ id }) => id)]).toEqual([
        locations,
        chosen.map(({ id }) => id).toReversed(),
      ]);
    }
    for (const { id, place } of entries) {
      const params = { id };
      const { status: found } = await client.call(contracts.getBlacklistEntry, { params });
      const { status: made } = await client.call(contracts.createBlacklistEntry, { body: bodyIn(place) });
      const { status: deleted } = await client.call(contracts.deleteBlacklistEntry, { params });
      const expected = [isSeen(place) ? 200 : 404, madeIn(caller, place), isSeen(place) ? 204 : 404];
      const allowed = [caller.mayRead ?? true, caller.writes, caller.writes];
      expect([place, found, made, deleted]).toEqual([
        place,
        ...expected.map((status, n) => (allowed[n] ? status : 403)),
      ]);
    }
  });

  test('sees what is in quarantine as the table says', async () => {
    const answer = await clientOf(caller).call(contracts.listQuarantine);
    const own = caller.sees.includes('elsewhere') ? world.quarantined.other : world.quarantined.own;
    expect(answer.problem ? answer.status : answer.body.entries.map(({ event_id }) => event_id)).toEqual(
      caller.seesQuarantine ? [own] : 403,
    );
  });
});

/** Of what an entry of the blacklist is: a place, or all of the account. */
type Spot = Place | 'everywhere';

const bodyIn = (place: Spot, visitor_key = newVisitor()) => ({
  ...{ visitor_key, reason: 'staff' as const },
  location_id: place === 'everywhere' ? null : world.located[place].location.id,
});

const madeIn = ({ sees, holds }: Caller, place: Spot) => {
  if (place === 'everywhere') return holds ? 403 : 201;
  return sees.includes(place) ? 201 : 422;
};

/** One entry of each spot, for a visitor whom nobody else has entered. */
async function newEntries() {
  const visitor_key = newVisitor();
  const entries: { place: Spot; id: string }[] = [];
  for (const place of [...places, 'everywhere'] as const) {
    const { account } = place === 'elsewhere' ? world.other : world.chain;
    const owner = service.client.with({ token: personToken({ account }) });
    const { body } = await owner.call(contracts.createBlacklistEntry, { body: bodyIn(place, visitor_key) });
    entries.push({ place, id: body.id });
  }
  return { visitor_key, entries };
}
