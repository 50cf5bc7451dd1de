import { contextOf, coverage, geocode, reverseGeocode, timezoneOf, weatherAt } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startUtilities } from './support.ts';
import { startNominatim, startOpenMeteo, type Upstream } from './support-upstreams.ts';

let nominatim: Upstream;
let openMeteo: Upstream;
/** By the geocoder. The one that asks a server for places also asks one for the weather. */
const services: Record<string, TestService> = {};
beforeAll(async () => {
  [nominatim, openMeteo] = await Promise.all([startNominatim(), startOpenMeteo()]);
  services.geonames = await startUtilities();
  services.nominatim = await startUtilities({
    ...{ GEOCODER: 'nominatim', NOMINATIM_URL: nominatim.url, NOMINATIM_INTERVAL_MS: '1' },
    ...{ WEATHER_SOURCE: 'open-meteo', OPEN_METEO_URL: openMeteo.url, OPEN_METEO_INTERVAL_MS: '1' },
    LOOK_UP_USER_AGENT: 'tests (somebody@example.com)',
  });
});
afterAll(async () => {
  await Promise.all(Object.values(services).map((service) => service.stop()));
  nominatim.stop();
  openMeteo.stop();
});

describe.each([
  ['geonames', 'GeoNames (CC BY 4.0)'],
  ['nominatim', '© OpenStreetMap contributors (ODbL)'],
])('%s', (source, attribution) => {
  const owner = () => newTenant(services[source] as TestService).owner;
  const find = async (query: Record<string, string | number>) =>
    (await owner().call(geocode, { query: query as never })).body;
  const told = { source, attribution, stale: false, retrieved_at: expect.stringMatching(/Z$/) };

  test('200: a city is found by its name, whatever its case and spaces, with zone and population', async () => {
    const answer = await find({ query: '  zÜRICH ', limit: 1 });
    expect(answer).toMatchObject(told);
    expect(answer.entries).toEqual([
      expect.objectContaining({ name: 'Zürich', country: 'CH', precision: 'place', timezone: 'Europe/Zurich' }),
    ]);
    expect(answer.entries[0]?.population).toBeGreaterThan(300_000);
  });

  test('200: a limit and a country narrow the answer, and what nobody knows is an empty list', async () => {
    expect((await find({ query: 'Zürich' })).entries.length).toBeGreaterThan(1);
    expect((await find({ query: 'Sydney', country: 'au', limit: 3 })).entries[0]?.timezone).toBe('Australia/Sydney');
    expect(await find({ query: 'Zürich', country: 'AU' })).toMatchObject({ entries: [], ...told });
    expect(await find({ query: "%<script>😀'; --" })).toMatchObject({ entries: [], ...told });
  });

  test('200: a point has the place that is there, or none in the middle of an ocean', async () => {
    const near = await owner().call(reverseGeocode, { query: { latitude: '47.4188', longitude: '8.5124' } });
    expect(near.body).toMatchObject({ place: { country: 'CH', precision: 'place' }, ...told });
    expect(near.body.place?.distance_m).toBeLessThan(10_000);
    const far = await owner().call(reverseGeocode, { query: { latitude: '-48.9', longitude: '-123.4' } });
    expect(far.body).toMatchObject({ place: null, ...told });
  });

  test('400: each fault of a query is named', async () => {
    const service = services[source] as TestService;
    const token = newTenant(service).token;
    const faults: [string, string][] = [
      ['geocode', 'query.query: is required.'],
      ['geocode?query=', 'query.query: must not be empty'],
      ['geocode?query=%20%20', 'query.query: must not be empty'],
      [`geocode?query=${'x'.repeat(501)}`, 'query.query: must have at most 500 characters'],
      ['geocode?query=x&limit=0', 'query.limit: must be a whole number from 1 to 20'],
      ['geocode?query=x&limit=21', 'query.limit: must be a whole number from 1 to 20'],
      ['geocode?query=x&country=Switzerland', 'query.country: must be a country of two letters'],
      ['reverse-geocode?latitude=47', 'query.longitude: is required.'],
      ['reverse-geocode?latitude=NaN&longitude=8', 'query.latitude: must be decimal degrees'],
      ['reverse-geocode?latitude=1e309&longitude=8', 'query.latitude: must be decimal degrees'],
      ['reverse-geocode?latitude=90.1&longitude=8', 'query.latitude: must be at most 90'],
      ['reverse-geocode?latitude=47&longitude=-180.5', 'query.longitude: must be at least -180'],
      ['reverse-geocode?latitude=47.123456789&longitude=8', 'query.latitude: must be decimal degrees'],
    ];
    for (const [path, detail] of faults) {
      const { status, text } = await sendRaw(service, 'GET', `/v2/utilities/${path}`, token);
      expect([path, status, JSON.parse(text).detail]).toEqual([path, 400, expect.stringContaining(detail)]);
    }
  });
});

describe.each([
  ['none', null, 'geonames'],
  ['open-meteo', 'Open-Meteo (CC BY 4.0)', 'nominatim'],
])('the weather by %s', (source, attribution, geocoder) => {
  const at = (query: object) =>
    newTenant(services[geocoder] as TestService).owner.call(weatherAt, { query: query as never });
  const told = { source, attribution, stale: false, retrieved_at: expect.stringMatching(/Z$/) };
  const zurich = { latitude: 47.3686, longitude: 8.5392 };
  const daysAhead = (days: number) => {
    const now = (services[geocoder] as TestService).clock.now().getTime();
    return new Date(now + days * 24 * 60 * 60 * 1000).toISOString();
  };

  test('200: from 90 days ago to 7 days ahead it is what the source says of the hour, or null', async () => {
    for (const days of [-89.9, -1, 0, 1, 6.9]) {
      const { body } = await at({ ...zurich, at: daysAhead(days) });
      expect(body).toMatchObject(told);
      const known = {
        ...{ kind: days > 0 ? 'forecast' : 'analysis', valid_at: `${daysAhead(days).slice(0, 13)}:00:00.000Z` },
        ...{ temperature_c: 7.4, precipitation_mm: 0.2, wind_speed_mps: 3.1, cloud_cover_percent: 88 },
        condition: 'rain',
      };
      expect(body.weather).toEqual(source === 'none' ? null : known);
    }
  });

  test('400: before, after, and at no point of the Earth', async () => {
    const faults = [
      [{ ...zurich, at: daysAhead(-90.1) }, 'query.at: must be from 90 days ago to 7 days ahead.'],
      [{ ...zurich, at: daysAhead(7.1) }, 'query.at: must be from 90 days ago to 7 days ahead.'],
      [{ latitude: 91, longitude: 0 }, 'query.latitude: must be at most 90'],
      [{ latitude: 47 }, 'query.longitude: is required'],
    ] as const;
    for (const [query, detail] of faults)
      expect((await at(query)).problem?.detail).toEqual(expect.stringContaining(detail));
  });
});

const ofSources = [reverseGeocode, weatherAt];

describe.each([
  ['geonames', [...ofSources, timezoneOf, coverage, contextOf]],
  ['nominatim', ofSources],
] as const)('with the sources beside %s', (geocoder, endpoints) => {
  const ends = [
    ...[90, -90].flatMap((latitude) => [-180, 0, 180].map((longitude) => ({ latitude, longitude }))),
    ...[-180, 180].flatMap((longitude) => [-16.8, 0, 67.5].map((latitude) => ({ latitude, longitude }))),
  ];

  test('200: look-ups answer at the poles and at the antimeridian', async () => {
    const { owner } = newTenant(services[geocoder] as TestService);
    for (const point of ends)
      for (const endpoint of endpoints) {
        const query = endpoint === coverage ? { ...point, radius_m: 5_000 } : point;
        const answer = await owner.call(endpoint, { query: query as never });
        expect([endpoint.operation, point, answer.status]).toEqual([endpoint.operation, point, 200]);
      }
  });

  test('400: no look-up takes coordinates that are none', async () => {
    const service = services[geocoder] as TestService;
    const { token } = newTenant(service);
    const none = [
      '',
      'NaN',
      'Infinity',
      '-Infinity',
      '1e309',
      '1e1',
      '0x10',
      '٤٧',
      '47,3',
      'null',
      '999',
      '90.000000001',
    ];
    for (const value of none)
      for (const path of ['reverse-geocode', 'timezone', 'coverage', 'weather', 'context']) {
        const query = `latitude=${encodeURIComponent(value)}&longitude=8&radius_m=500`;
        const { status } = await sendRaw(service, 'GET', `/v2/utilities/${path}?${query}`, token);
        expect([path, value, status]).toEqual([path, value, 400]);
      }
  });

  test('200: a hostile text is the name of no place; 400: and one with NUL none at all', async () => {
    const { owner } = newTenant(services[geocoder] as TestService);
    const texts = [
      '__proto__',
      'constructor',
      '.*',
      '\u202Ehcirüz',
      'a\u0301'.repeat(249),
      '\uFFFF',
      "'; DROP TABLE",
      '&format=html',
    ];
    const find = async (query: string) => (await owner.call(geocode, { query: { query } as never })).status;
    for (const query of texts) expect([query, await find(query)]).toEqual([query, 200]);
    expect(await find('Zürich\0')).toBe(400);
  });
});

test('the public server is told who asks, and is asked for each thing once', async () => {
  expect([...nominatim.agents]).toEqual(['tests (somebody@example.com)']);
  expect([...openMeteo.agents]).toEqual(['tests (somebody@example.com)']);
  const { owner } = newTenant(services.nominatim as TestService);
  const before = nominatim.asked.length;
  const one = await owner.call(geocode, { query: { query: 'SYDNEY', limit: '7' } as never });
  const other = await owner.call(geocode, { query: { query: ' sydney ', limit: '7' } as never });
  expect(other.body).toEqual(one.body);
  expect(nominatim.asked.length).toBe(before + 1);
});
