import {
  contextOf,
  coverage,
  geocode as geocodeOf,
  locationCreated,
  locationDeleted,
  locationUpdated,
  lookUpTimeZone,
  reverseGeocode as reverse,
  timezoneOf,
  weatherAt,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { countStatements, internalToken, numbersOf, type StatementTable, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startUtilities } from './support.ts';
import { startOpenMeteo, type Upstream } from './support-upstreams.ts';

let service: TestService;
let openMeteo: Upstream;
beforeAll(async () => {
  openMeteo = await startOpenMeteo();
  service = await startUtilities({
    ...{ WEATHER_SOURCE: 'open-meteo', OPEN_METEO_URL: openMeteo.url, OPEN_METEO_INTERVAL_MS: '1' },
  });
});
afterAll(async () => {
  await service.stop();
  openMeteo.stop();
});

const zurich = { latitude: 47.3686, longitude: 8.5392 };
const made = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' };

/** A location of the account, announced by an event of Organization. */
async function locate(account: string, fields: object = {}) {
  const location = {
    ...{
      id: newId('location'),
      group_id: newId('group'),
      name: 'Main Street',
      external_id: null,
      timezone: 'Europe/Zurich',
    },
    ...{
      address: null,
      ...zurich,
      venue_type: null,
      opening_hours: null,
      status: 'active' as const,
      venue_taxonomy: null,
    },
    ...made,
    ...fields,
  };
  await service.deliver(locationCreated, { account_id: account, aggregate_version: 1, location }, account);
  return location;
}

const context = async (owner: ReturnType<typeof newTenant>['owner'], query: object) =>
  (await owner.call(contextOf, { query: query as never })).body;

test('200: a point has its local time, part of the day, holiday of its region, light and weather', async () => {
  const { owner } = newTenant(service);
  const munich = { latitude: '48.137', longitude: '11.575' };
  const epiphany = await context(owner, { ...munich, at: '2026-01-06T13:30:15.999Z' });
  expect(epiphany).toMatchObject({
    ...{ timezone: 'Europe/Berlin', local_date: '2026-01-06', local_time: '14:30:15', utc_offset_minutes: 60 },
    ...{ weekday: 'tue', daypart: 'afternoon', holiday: { name: 'Epiphany', type: 'public' }, daylight: true },
    ...{ is_open: null, venue_type: null, location_id: null, weather: null, stale: false },
  });
  expect(epiphany.sources).toContainEqual({
    ...{ part: 'holiday', source: 'date-holidays', attribution: 'date-holidays (CC BY 3.0)', stale: false },
  });
  expect(epiphany.attribution).toContain('GeoNames (CC BY 4.0)');
  const berlin = await context(owner, { latitude: '52.52', longitude: '13.405', at: '2026-01-06T23:30:00Z' });
  expect(berlin).toMatchObject({ local_date: '2026-01-07', holiday: null, daylight: false, daypart: 'night' });
  const asIfInAustria = { ...munich, country: 'AT', at: '2026-10-26T11:00:00Z' };
  expect((await context(owner, asIfInAustria)).holiday).toMatchObject({ type: 'public' });
});

test('200: the parts of the day begin at 0, 6, 10, 14, 18 and 22 o’clock', async () => {
  const { owner } = newTenant(service);
  const at = async (time: string) =>
    (await context(owner, { latitude: '0', longitude: '0', at: `2026-06-21T${time}Z` })).daypart;
  const times = { '05:59:59': 'night', '06:00:00': 'morning', '10:00:00': 'midday', '14:00:00': 'afternoon' };
  const later = { '18:00:00': 'evening', '21:59:59': 'evening', '22:00:00': 'late', '00:00:00': 'night' };
  for (const [time, daypart] of Object.entries({ ...times, ...later }))
    expect([time, await at(time)]).toEqual([time, daypart]);
});

test('200: the Sun is up in the polar summer, down in the polar winter, and rises in Zurich when almanacs say', async () => {
  const { owner } = newTenant(service);
  const light = async (latitude: number, longitude: number, at: string) =>
    (await context(owner, { latitude, longitude, at })).daylight;
  for (const time of ['00', '06', '12', '18']) {
    expect(await light(78.2, 15.6, `2026-06-21T${time}:00:00Z`)).toBe(true);
    expect(await light(78.2, 15.6, `2026-12-21T${time}:00:00Z`)).toBe(false);
  }
  // 20 March 2026: sunrise 6:28, sunset 18:37, Central European Time.
  expect(await light(47.3769, 8.5417, '2026-03-20T05:24:00Z')).toBe(false);
  expect(await light(47.3769, 8.5417, '2026-03-20T05:32:00Z')).toBe(true);
  expect(await light(47.3769, 8.5417, '2026-03-20T17:33:00Z')).toBe(true);
  expect(await light(47.3769, 8.5417, '2026-03-20T17:41:00Z')).toBe(false);
});

test('200: a location is open up to and not at the closing minute, past midnight too', async () => {
  const { account, owner } = newTenant(service);
  const opening_hours = {
    mon: [{ opens: '09:00', closes: '18:30' }],
    sat: [{ opens: '18:00', closes: '02:00' }],
    sun: [{ opens: '20:00', closes: '24:00' }],
  };
  const { id } = await locate(account, { opening_hours, venue_type: 'retail.grocery' });
  const isOpen = async (at: string) => (await context(owner, { location_id: id, at })).is_open;
  // Local time is an hour ahead. 2026-01-05 is a Monday.
  const times = {
    ...{ '2026-01-05T07:59:59Z': false, '2026-01-05T08:00:00Z': true, '2026-01-05T17:29:59Z': true },
    ...{ '2026-01-05T17:30:00Z': false, '2026-01-10T23:30:00Z': true, '2026-01-11T00:59:00Z': true },
    ...{ '2026-01-11T01:00:00Z': false, '2026-01-11T22:59:00Z': true, '2026-01-11T23:00:00Z': false },
  };
  for (const [at, open] of Object.entries(times)) expect([at, await isOpen(at)]).toEqual([at, open]);
  const answer = await context(owner, { location_id: id });
  expect(answer).toMatchObject({ venue_type: 'retail.grocery', location_id: id, weather: { condition: 'rain' } });
});

test('200: a location without coordinates has its time, and no light and weather', async () => {
  const { account, owner } = newTenant(service);
  const { id } = await locate(account, { latitude: null, longitude: null });
  expect(await context(owner, { location_id: id })).toMatchObject({
    ...{ timezone: 'Europe/Zurich', daylight: null, weather: null, holiday: null, is_open: null, stale: false },
  });
});

test('200: a part whose source fails is null and stale, and the others are answered', async () => {
  const { owner } = newTenant(service);
  openMeteo.respond = (_, response) => response.writeHead(500).end();
  const answer = await context(owner, { latitude: '-12.5', longitude: '30.25' });
  openMeteo.respond = openMeteo.answer;
  expect(answer).toMatchObject({ timezone: expect.any(String), weather: null, stale: true });
  expect(answer.sources.filter(({ stale }) => stale).map(({ part }) => part)).toEqual(['weather']);
});

test('404: a location of another account, of a group out of sight, deleted, or no id at all', async () => {
  const { account, owner, narrowed } = newTenant(service);
  const { id, group_id } = await locate(account);
  const query = { location_id: id };
  expect((await narrowed([group_id]).call(contextOf, { query })).status).toBe(200);
  const one = (await newTenant(service).owner.call(contextOf, { query })).problem;
  expect(one).toMatchObject({ status: 404 });
  expect((await narrowed([newId('group')]).call(contextOf, { query })).problem).toEqual(one);
  for (const location_id of [newId('location'), newId('zone'), 'x', 'loc_%00'])
    expect((await owner.call(contextOf, { query: { location_id } })).problem).toEqual(one);
  const moved = { ...(await locate(account)), id, group_id: newId('group') };
  await service.deliver(locationUpdated, { account_id: account, aggregate_version: 2, location: moved }, account);
  expect((await narrowed([group_id]).call(contextOf, { query })).problem).toEqual(one);
  await service.deliver(locationDeleted, { account_id: account, aggregate_version: 3, location_id: id }, account);
  expect((await owner.call(contextOf, { query })).problem).toEqual(one);
});

test('400: each fault of a query is named', async () => {
  const { token } = newTenant(service);
  const at = `latitude=47&longitude=8`;
  const faults: [string, string][] = [
    ['context', 'query.location_id: must be given, or latitude and longitude'],
    [`context?location_id=x&${at}`, 'query.location_id: must not be given with latitude and longitude'],
    ['context?latitude=47', 'query.longitude: must be given with latitude'],
    ['context?location_id=x&country=CH', 'query.country: must be given with latitude and longitude'],
    [`context?${at}&at=yesterday`, 'query.at: must be a timestamp'],
    [`timezone?${at}&at=2026-01-01`, 'query.at: must be a timestamp'],
    [`coverage?${at}`, 'query.radius_m: must be given, or minutes and mode'],
    [`coverage?${at}&radius_m=500&minutes=5`, 'query.radius_m: must not be given with minutes and mode'],
    [`coverage?${at}&minutes=5`, 'query.mode: must be given with minutes'],
    [`coverage?${at}&mode=walk`, 'query.minutes: must be given with mode'],
    [`coverage?${at}&minutes=5&mode=fly`, 'query.mode'],
    [`coverage?${at}&minutes=61&mode=walk`, 'query.minutes: must be a number from 1 to 60'],
    [`coverage?${at}&radius_m=49`, 'query.radius_m: must be a number from 50 to 100000'],
    [`coverage?${at}&radius_m=500&resolution=12`, 'query.resolution: must be a whole number from 5 to 11'],
    [`coverage?${at}&radius_m=100000&resolution=11`, 'query.resolution: these would be more than 10,000 cells'],
    [`coverage?${at}&radius_m=20000&resolution=9`, 'query.resolution: these would be more than 10,000 cells'],
  ];
  for (const [path, detail] of faults) {
    const { status, text } = await sendRaw(service, 'GET', `/v2/utilities/${path}`, token);
    expect([path, status, JSON.parse(text).detail]).toEqual([path, 400, expect.stringContaining(detail)]);
  }
});

test('200: a point has its zone, and the offset at the time; a disputed area has alternatives', async () => {
  const { owner } = newTenant(service);
  const zone = async (latitude: number, longitude: number, at?: string) =>
    (await owner.call(timezoneOf, { query: { latitude, longitude, at } as never })).body;
  const told = { source: 'geo-tz', attribution: '© OpenStreetMap contributors (ODbL)', stale: false };
  const summer = await zone(47.3686, 8.5392, '2026-07-01T00:00:00.123456789Z');
  expect(summer).toMatchObject({ timezone: 'Europe/Zurich', alternatives: [], utc_offset_minutes: 120, ...told });
  expect((await zone(27.7, 85.3)).utc_offset_minutes).toBe(345);
  const disputed = await zone(31.95, 35.3);
  expect([disputed.timezone, ...disputed.alternatives].sort()).toEqual(['Asia/Hebron', 'Asia/Jerusalem']);
});

test('200: coverage takes minutes and metres with as many decimals as a number has', async () => {
  const { owner } = newTenant(service);
  for (const area of [{ radius_m: 2382.086161114914 }, { minutes: 29.776077013936426, mode: 'walk' as const }]) {
    const { status, body } = await owner.call(coverage, { query: { ...zurich, ...area } });
    expect(status).toBe(200);
    expect(body.cells).not.toHaveLength(0);
  }
});

test('200: coverage by travel is that of the radius, and its cells are the finest of no more than 2,000', async () => {
  const { owner } = newTenant(service);
  const cover = async (query: object) => (await owner.call(coverage, { query: { ...zurich, ...query } as never })).body;
  const travelled = await cover({ minutes: 10, mode: 'bike' });
  const { method, ...same } = await cover({ radius_m: 2_500 });
  expect([travelled.method, method]).toEqual(['travel_estimate', 'radius']);
  expect(travelled).toMatchObject({ ...same, retrieved_at: expect.any(String) });
  expect(travelled.cells.length).toBeLessThanOrEqual(2_000);
  const finer = await cover({ radius_m: 2_500, resolution: travelled.resolution + 1 });
  expect(finer.cells.length).toBeGreaterThan(2_000);
  expect(Math.abs(finer.area_m2 / (Math.PI * 2_500 ** 2) - 1)).toBeLessThan(0.02);
});

test('200: a service is told the zone of a point', async () => {
  const organization = service.client.with({ token: internalToken('organization', 'utilities') });
  const answer = await organization.call(lookUpTimeZone, { query: { latitude: '-33.87', longitude: '151.21' } });
  expect(answer.body).toEqual({ timezone: 'Australia/Sydney' });
});

const at = { ...zurich } as never;
const asOwner = () => newTenant(service).owner;
const table: StatementTable = {
  geocode: {
    statements: 0,
    prepare: async (limit) => () => asOwner().call(geocodeOf, { query: { query: 'San', limit: `${limit}` } as never }),
  },
  reverse_geocode: { statements: 0, prepare: async () => () => asOwner().call(reverse, { query: at }) },
  timezone: { statements: 0, prepare: async () => () => asOwner().call(timezoneOf, { query: at }) },
  coverage: {
    statements: 0,
    prepare: async () => () => asOwner().call(coverage, { query: { ...zurich, radius_m: '500' } as never }),
  },
  /** The answer is kept. */
  weather: {
    statements: 1,
    async prepare() {
      await asOwner().call(weatherAt, { query: at });
      return () => asOwner().call(weatherAt, { query: at });
    },
  },
  context: {
    statements: 2,
    async prepare() {
      const { account, owner } = newTenant(service);
      const { id } = await locate(account);
      const query = { location_id: id };
      await owner.call(contextOf, { query });
      return () => owner.call(contextOf, { query });
    },
  },
  look_up_time_zone: {
    statements: 0,
    prepare: async () => () =>
      service.client.with({ token: internalToken('organization', 'utilities') }).call(lookUpTimeZone, { query: at }),
  },
};

test.each([3, 20])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'utilities', table, rows)).toEqual(numbersOf(table));
});
