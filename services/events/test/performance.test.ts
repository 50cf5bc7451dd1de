import { getCampaignLift, getCampaignPerformance, getCampaignTimeseries } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import {
  type Items,
  type Question,
  type RawPlay,
  type RawVisit,
  recountOf,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sumClusters } from '../src/statistics/clusters.ts';
import { liftOf } from '../src/statistics/lift.ts';
import { addressesOf, newVisitor, startWithPast } from './support.ts';
import { type Chain, itemsOf, newChain, someItems } from './support-chain.ts';
import { type Owners, startOwners } from './support-owners.ts';
import { keep } from './support-stored.ts';

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

const [hour, day] = [3_600_000, 86_400_000];
const all = ({ places }: Chain) => places.map(({ location }) => location);

/** What is asked in a world, as a query and as the recount takes it. */
function questionsOf(chain: Chain) {
  const [here, there] = chain.places as [Chain['places'][number], Chain['places'][number]];
  const [own, other] = [here.zones[1] ?? '', there.zones[0] ?? ''];
  const ask = (query: Readonly<Record<string, string>>, question: Partial<Question> = {}) => ({
    query,
    question: { locations: all(chain), windowMs: 7 * day, ...question },
  });
  const from = '2026-10-04';
  const to = '2026-10-25';
  return [
    ask({}),
    ask({ from, to }, { from, to }),
    ask({ from: to, window: '90m' }, { from: to, windowMs: 90 * 60_000 }),
    ask({ to: '2026-03-29', location_ids: here.location }, { to: '2026-03-29', locations: [here.location] }),
    ask({ group_ids: there.group, window: '30d' }, { locations: [there.location], windowMs: 30 * day }),
    ask({ target_zone_ids: own, window: '5h' }, { targets: [own], windowMs: 5 * hour }),
    ask({ target_zone_ids: [own, other, newId('zone')].join(','), from }, { targets: [own, other], from }),
    ask({ target_zone_ids: newId('zone') }, { targets: ['none'] }),
    ask({ location_ids: newId('location') }, { locations: [] }),
  ];
}

async function worldOf(seed: number) {
  const chain = await newChain(service);
  const { visits, plays } = someItems(chain, seed, service.clock.now().getTime());
  // The second campaign has no control.
  const real = plays.map((play) => ({ ...play, holdout: play.holdout && play.campaign_id === chain.campaigns[0] }));
  await keep(service, chain.account, { visits, plays: real });
  return { chain, items: itemsOf(chain, visits, real), owner: chain.as(service) };
}

/** Doubles that were reached in another order differ in their last digits. */
const numbers = (value: object): object =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === 'number' ? +one.toPrecision(12) : one,
  ) as object;

test.each([1, 2])('performance and lift are those of a recount item by item, in every scope (%d)', async (seed) => {
  const { chain, items, owner } = await worldOf(seed);
  const designs = new Set<string>();
  const met = { exposed: 0, converted: 0, pending: 0 };
  for (const campaign of chain.campaigns)
    for (const { query, question } of questionsOf(chain)) {
      const { body } = await owner.call(getCampaignPerformance, { params: { id: campaign }, query });
      const { from, to, as_of, ...figures } = body;
      const echo = {
        kind: 'targets' in question ? 'zone' : 'return',
        window: query.window ?? '7d',
      };
      expect({ from, to }).toEqual({ from: question.from ?? null, to: question.to ?? null });
      const about = { campaign, ...question, asOf: Date.parse(as_of) };
      const expected = recountOf(items, about).performance();
      expect(numbers(figures)).toEqual(numbers({ ...expected, conversion: { ...expected.conversion, ...echo } }));

      const { body: told } = await owner.call(getCampaignLift, { params: { id: campaign }, query });
      expect(numbers(told)).toEqual(
        numbers({
          ...liftRecounted(items, { ...about, asOf: Date.parse(told.as_of) }),
          ...echo,
          from,
          to,
          as_of: told.as_of,
        }),
      );
      designs.add(told.design);
      met.exposed += figures.exposed_visits;
      met.converted += told.control.converted;
      met.pending += figures.conversion.pending_visits;
    }
  expect([...designs].toSorted()).toEqual(['holdout', 'observational']);
  expect(Math.min(...Object.values(met))).toBeGreaterThan(0);
});

function liftRecounted(items: Items, question: Question) {
  const { design, exposed, control, hours, pending } = recountOf(items, question).lift();
  const said = liftOf({ design, exposed: sumClusters(exposed), control: sumClusters(control), played: hours });
  return { campaign_id: question.campaign, design, confidence: 95, ...said, pending_visitors: pending };
}

test('a series has every bucket of its range, each with the figures of a recount', async () => {
  const { chain, items, owner } = await worldOf(3);
  const [campaign] = chain.campaigns;
  const empty = { plays: 0, play_ms: 0, opportunities_to_see: 0, exposed_visits: 0, exposed_visitors: 0 };
  for (const [interval, from, to] of [
    ['hour', '2026-10-24', '2026-10-26'],
    ['hour', '2026-03-28', '2026-03-29'],
    ['day', '2026-03-27', '2026-03-31'],
    ['week', '2026-09-30', undefined],
    ['month', undefined, undefined],
  ] as const) {
    const nameOf = (date: string, hourOfDay: number) => {
      const first = Temporal.PlainDate.from(date);
      if (interval === 'hour') return `${date} ${hourOfDay}`;
      if (interval === 'week') return first.subtract({ days: first.dayOfWeek - 1 }).toString();
      return interval === 'month' ? first.with({ day: 1 }).toString() : date;
    };
    const about = { campaign, locations: all(chain), from, to, windowMs: day, asOf: Date.now() };
    const expected = recountOf(items, about).series(nameOf);
    const query = { interval, from, to };
    const { body } = await owner.call(getCampaignTimeseries, { params: { id: campaign }, query });
    expect(body).toMatchObject({ interval, from: from ?? null, to: to ?? null });

    const names = body.buckets.map((bucket) => (interval === 'hour' ? `${bucket.date} ${bucket.hour}` : bucket.date));
    const wanted = names.map((name) => expected.get(name) ?? empty);
    expect(body.buckets.map(({ date: _, hour: __, ...figures }) => figures)).toEqual(wanted);
    expect([...expected.keys()].filter((name) => !names.includes(name))).toEqual([]);
    const ends = [...expected.keys()].toSorted();
    const first = from === undefined ? ends[0] : nameOf(from, 0);
    expect([names[0], names.at(-1)]).toEqual([first, to === undefined ? ends.at(-1) : nameOf(to, 23)]);
    if (interval === 'hour') expect(names.length % 24).toBe(0);
  }
});

/** Hours in each of which ten people come and meet the campaign, or are kept from it, and one or two of them come again. */
function trial(chain: Chain) {
  const [{ location, zones, screens }] = chain.places as [Chain['places'][number]];
  const [zone_id, screen_id] = [zones[0] ?? '', screens[0]?.id ?? ''];
  const visits: RawVisit[] = [];
  const plays: RawPlay[] = [];
  const begin = Date.parse('2026-02-02T00:00:00Z');
  for (let n = 0; n < 200; n++) {
    const [start, held] = [begin + n * hour, n % 10 === 3];
    plays.push({
      ...{ location_id: location, zone_id, screen_id, campaign_id: chain.campaigns[0], version: 1 },
      ...{ holdout: held, completed: true, start, end: start + 60_000 },
    });
    for (let person = 0; person < 10; person++) {
      const visitor_key = newVisitor();
      const came = (at: number) => {
        const times = { start: at, end: at + 30_000 };
        visits.push({
          event_id: newUuid(),
          visitor_key,
          location_id: location,
          ...times,
          zones: [{ zone_id, ...times }],
        });
      };
      came(start);
      if (person < (held ? 1 : 2) + (n % 4 === 0 ? 1 : 0)) came(start + 30 * 60_000);
    }
  }
  return { visits, plays };
}

test('a lift is told with its intervals, and nothing where chance did not choose the hours', async () => {
  const chain = await newChain(service);
  const { visits, plays } = trial(chain);
  await keep(service, chain.account, { visits, plays });
  const [params, owner] = [{ id: chain.campaigns[0] }, chain.as(service)];
  const { body } = await owner.call(getCampaignLift, { params });
  expect(body).toMatchObject({
    ...{ design: 'holdout', kind: 'return', window: '7d', confidence: 95, reason: null, pending_visitors: 0 },
    exposed: { visitors: 1800, converted: 410, clusters: 180 },
    control: { visitors: 200, converted: 20, clusters: 20, rate: 10 },
    sample_ratio: {
      control_hours: 20,
      exposed_hours: 180,
      mixed_hours: 0,
      expected_control_percent: 10,
      mismatch: false,
    },
  });
  const about = { campaign: params.id, locations: all(chain), windowMs: 7 * day, asOf: Date.parse(body.as_of) };
  expect(numbers(body)).toMatchObject(numbers(liftRecounted(itemsOf(chain, visits, plays), about)));
  expect(body.difference_low).toBeGreaterThan(0);
  expect(body.lift_low).toBeGreaterThan(0);

  // The same, but the version says that half of the hours are to be held back.
  await service.db.query('UPDATE known_versions SET holdout_percent = 50 WHERE campaign_id = $1', [params.id]);
  const { body: refused } = await owner.call(getCampaignLift, { params });
  expect(refused).toMatchObject({ reason: 'sample_ratio_mismatch', lift: null, sample_ratio: { mismatch: true } });
});

test('the first meeting decides on a visitor; at one instant the real play does, and the smaller id is the visit', async () => {
  const chain = await newChain(service);
  const [{ location, zones, screens }] = chain.places as [Chain['places'][number]];
  const [start, campaign_id] = [Math.floor(service.clock.now().getTime() / day) * day - 10 * day, chain.campaigns[0]];
  const at = (minutes: number) => start + minutes * 60_000;
  const play = (screen: number, from: number, holdout: boolean): RawPlay => ({
    ...{
      location_id: location,
      zone_id: screens[screen]?.zone ?? '',
      screen_id: screens[screen]?.id ?? '',
      campaign_id,
    },
    ...{ version: 1, holdout, completed: true, start: at(from), end: at(from + 5) },
  });
  const visit = (visitor_key: string, zone: number, from: number, to: number): RawVisit => {
    const times = { start: at(from), end: at(to) };
    return {
      event_id: newUuid(),
      visitor_key,
      location_id: location,
      ...times,
      zones: [{ zone_id: zones[zone] ?? '', ...times }],
    };
  };
  const [patient, twice] = [newVisitor(), newVisitor()];
  // Held at 0 and real at 20 in one zone, real at 0 in the other.
  const plays = [play(0, 0, true), play(0, 20, false), play(1, 0, false)];
  const visits = [visit(patient, 0, 0, 40), visit(twice, 0, 0, 3), visit(twice, 1, 0, 10), visit(twice, 0, 70, 80)];
  await keep(service, chain.account, { visits, plays });
  const ask = async (window: string) =>
    (await chain.as(service).call(getCampaignLift, { params: { id: campaign_id }, query: { window } })).body;
  expect(await ask('61m')).toMatchObject({
    control: { visitors: 1, converted: 0 },
    exposed: { visitors: 1, converted: 0 },
  });
  // From the end of the smaller visit it is 67 minutes, from that of the other 60.
  expect(await ask('67m')).toMatchObject({ exposed: { converted: 0 }, reason: 'too_few_visitors' });
  expect(await ask('68m')).toMatchObject({ exposed: { converted: 1 } });
});

test('a campaign that never played has figures of zero', async () => {
  const [chain, params] = [await newChain(service), { id: newId('campaign') }];
  const owner = chain.as(service);
  const nothing = {
    visitors: 0,
    converted: 0,
    rate: null,
    rate_low: null,
    rate_high: null,
    clusters: 0,
    design_effect: 1,
  };
  expect((await owner.call(getCampaignPerformance, { params })).body).toMatchObject({
    ...{ from: null, plays: 0, opportunities_to_see: 0, frequency: null, mean_exposure_ms: null },
    conversion: { kind: 'return', window: '7d', ripe_visits: 0, converted_visits: 0, rate: null, pending_visits: 0 },
  });
  expect((await owner.call(getCampaignTimeseries, { params })).body.buckets).toEqual([]);
  expect((await owner.call(getCampaignLift, { params })).body).toMatchObject({
    ...{ design: 'observational', exposed: nothing, control: nothing, reason: 'no_exposed' },
    ...{ lift: null, difference: null, sample_ratio: null, pending_visitors: 0 },
  });
});

const endpoints = [getCampaignPerformance, getCampaignTimeseries, getCampaignLift];

test('404: a campaign that Campaign does not show to this caller; 503: nobody can tell', async () => {
  const [chain, params] = [await newChain(service), { id: newId('campaign') }];
  const group = newId('group');
  const sub = newId('user');
  const narrowed = chain.as(service, { sub, role: 'member', group_scope: 'selected', groups: { [group]: 'm' } });
  const asked: object[] = [];
  owners.sees = (question) => {
    asked.push(question);
    return question.group_ids === null ? question.ids : [];
  };
  try {
    for (const endpoint of endpoints) {
      expect((await narrowed.call(endpoint, { params })).status).toBe(404);
      expect(asked.at(-1)).toEqual({ account_id: chain.account, caller_id: sub, group_ids: [group], ids: [params.id] });
      expect((await chain.as(service).call(endpoint, { params })).status).toBe(200);
      owners.away = true;
      expect((await chain.as(service).call(endpoint, { params })).status).toBe(503);
      owners.away = false;
    }
    expect(asked.at(-1)).toMatchObject({ group_ids: null });
  } finally {
    Object.assign(owners, { away: false, sees: ({ ids }: { ids: string[] }) => ids });
  }
});

test('400: windows, targets, ranges and intervals that cannot be; 401: nobody; 403: without this service', async () => {
  const [chain, params] = [await newChain(service), { id: newId('campaign') }];
  const owner = chain.as(service);
  for (const endpoint of endpoints) {
    expect((await service.client.call(endpoint, { params })).status).toBe(401);
    expect((await chain.as(service, { svc: { campaign: 'w' } }).call(endpoint, { params })).status).toBe(403);
    const { status } = await owner.call(endpoint, { params, query: { from: '2026-11-02', to: '2026-11-01' } });
    expect(status).toBe(400);
  }
  const many = Array.from({ length: 21 }, () => newId('zone')).join(',');
  for (const endpoint of [getCampaignPerformance, getCampaignLift]) {
    for (const query of [{ window: '59s' }, { window: '31d' }, { window: 'soon' }, { target_zone_ids: many }])
      expect((await owner.call(endpoint, { params, query })).status).toBe(400);
    for (const window of ['60s', '1m', '30d', '720h'])
      expect((await owner.call(endpoint, { params, query: { window } })).status).toBe(200);
  }
  const [from, to] = ['2026-01-01', '2026-02-01'];
  for (const query of [
    { interval: 'hour' },
    { interval: 'hour', from, to },
    { interval: 'year' },
    { from: '2020-01-01', to },
  ])
    expect((await owner.call(getCampaignTimeseries, { params, query })).status).toBe(400);
});
