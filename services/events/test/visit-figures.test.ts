import { getVisitsDwell, getVisitsTimeseries } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newVisitor, newWorld, startWithPast } from './support.ts';
import { daysLater, narrowedTo, type PlantedVisit, plant, tellLocation, visitAt } from './support-figures.ts';

let service: TestService;
beforeAll(async () => {
  service = await startWithPast();
});
afterAll(() => service.stop());

const at = (text: string) => Date.parse(text);
const minuteMs = 60_000;

async function known(timezone?: string) {
  const world = newWorld(timezone);
  await world.tell(service);
  return world;
}

/** Visits of a few people, most of them within some weeks around the days on which clocks change. */
function visitsOf(location: string, seed: number, zones: readonly string[] = []): PlantedVisit[] {
  const chance = chanceFrom(seed);
  const people = Array.from({ length: 9 }, newVisitor);
  const weeks = ['2025-12-20', '2026-03-25', '2026-10-20'].map(at);
  return Array.from({ length: 90 }, () => {
    const start = chance.pick(weeks) + chance.int(0, 16 * 24 * 60) * minuteMs;
    const length = chance.pick([chance.int(1, 90_000), chance.int(1, 4_000_000), 30_000, 60_000, 3_600_000]);
    const stays = zones
      .filter(() => chance.int(1, 3) > 1)
      .flatMap((zone_id) => [
        { zone_id, start, end: start + Math.ceil(length / 3) },
        { zone_id, start: start + Math.ceil(length / 2), end: start + length },
      ]);
    const parts = stays.filter((stay) => stay.start < stay.end);
    return visitAt(location, start, { end: start + length, visitor_key: chance.pick(people), zones: parts });
  });
}

/** What figures say of dwells, counted slowly. */
function recount(dwells: readonly number[], visitors: readonly string[]) {
  const sorted = dwells.toSorted((a, b) => a - b);
  const sum = sorted.reduce((total, ms) => total + ms, 0);
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? null;
  return {
    ...{ visits: sorted.length, visitors: new Set(visitors).size },
    mean_dwell_ms: sorted.length === 0 ? null : Math.floor(sum / sorted.length + 0.5),
    ...{ median_dwell_ms: rank(0.5), p90_dwell_ms: rank(0.9) },
  };
}

/** The local time of a visit, and the first day of the period that it is in. */
function localOf({ start }: PlantedVisit, timezone: string, interval: string) {
  const local = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(timezone);
  return { date: bucketDate(local.toPlainDate(), interval), hour: local.hour, day: local.toPlainDate().toString() };
}

function bucketDate(day: Temporal.PlainDate, interval: string): string {
  if (interval === 'month') return day.with({ day: 1 }).toString();
  let first = day;
  while (interval === 'week' && first.dayOfWeek !== 1) first = first.subtract({ days: 1 });
  return first.toString();
}

test('a series has every bucket of its range, each with the figures of a slow recount', async () => {
  const world = await known('Europe/Zurich');
  const visits = visitsOf(world.location.id, 11);
  await plant(service, world, { visits });

  function expected(from: string | undefined, to: string | undefined, interval: string) {
    const local = visits.map((visit) => ({ ...visit, ...localOf(visit, world.location.timezone, interval) }));
    const chosen = local.filter(({ day }) => (from ?? '') <= day && day <= (to ?? '9'));
    const days = chosen.map(({ day }) => day).toSorted();
    const [first, last] = [from ?? days[0], to ?? days.at(-1)];
    if (first === undefined || last === undefined) return [];
    const dates = new Set<string>();
    for (let day = Temporal.PlainDate.from(first); day.toString() <= last; day = day.add({ days: 1 }))
      dates.add(bucketDate(day, interval));
    const hours = interval === 'hour' ? Array.from({ length: 24 }, (_, hour) => hour) : [undefined];
    return [...dates].flatMap((date) =>
      hours.map((hour) => {
        const own = chosen.filter((visit) => visit.date === date && (hour === undefined || visit.hour === hour));
        const dwells = own.map(({ start, end }) => end - start);
        const { p90_dwell_ms: _, ...figures } = recount(
          dwells,
          own.map(({ visitor_key }) => visitor_key),
        );
        return { date, ...(hour !== undefined && { hour }), ...figures };
      }),
    );
  }

  const day = fc.integer({ min: 0, max: 370 }).map((n) => daysLater('2025-12-10', n));
  const side = fc.option(day, { nil: undefined });
  const range = fc.oneof(
    fc.record({ interval: fc.constantFrom('day', 'week', 'month'), from: side, to: side }),
    fc
      .record({
        day: fc.oneof(day, fc.constantFrom('2026-03-20', '2026-10-20')),
        length: fc.integer({ max: 30, min: 0 }),
      })
      .map(({ day: from, length }) => ({ interval: 'hour', from, to: daysLater(from, length) })),
  );
  await fc.assert(
    fc.asyncProperty(range, async ({ interval, from, to }) => {
      fc.pre(from === undefined || to === undefined || from <= to);
      const { status, body } = await world.as(service).call(getVisitsTimeseries, { query: { interval, from, to } });
      expect(status).toBe(200);
      expect(body).toMatchObject({ interval, from: from ?? null, to: to ?? null });
      expect(body.buckets).toEqual(expected(from, to, interval));
    }),
    { numRuns: 60 },
  );
});

test('a day has 24 hours, also one that is longer or shorter', async () => {
  const world = await known('Europe/Zurich');
  const times = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'];
  await plant(service, world, { visits: times.map((time) => visitAt(world.location.id, at(time))) });
  const visitsOn = async (date: string) => {
    const query = { interval: 'hour', from: date, to: date };
    const { buckets } = (await world.as(service).call(getVisitsTimeseries, { query })).body;
    expect(buckets.map(({ hour }) => hour)).toEqual(Array.from({ length: 24 }, (_, hour) => hour));
    return buckets.slice(0, 5).map(({ visits }) => visits);
  };
  expect(await visitsOn('2026-10-25')).toEqual([0, 0, 2, 0, 0]);
  expect(await visitsOn('2026-03-29')).toEqual([0, 1, 0, 1, 0]);
});

test('400: a series that is too long, of whatever side, and one of hours without both sides', async () => {
  const world = await known();
  const answer = async (query: Record<string, string>) => {
    const given = await world.as(service).call(getVisitsTimeseries, { query });
    return given.problem ? given.problem.detail : given.body.buckets.length;
  };
  const refused = expect.stringMatching(/^query\.interval: the range has more than 1000 buckets/);
  expect(await answer({})).toBe(0);
  expect(await answer({ from: '0001-01-01' })).toBe(0);
  expect(await answer({ interval: 'day', from: '2024-01-01', to: daysLater('2024-01-01', 999) })).toBe(1000);
  expect(await answer({ from: '2024-01-01', to: daysLater('2024-01-01', 1000) })).toEqual(refused);
  expect(await answer({ from: '0001-01-01', to: '9999-12-31', interval: 'week' })).toEqual(refused);
  expect(await answer({ from: '9998-12-31', to: '9999-12-31', interval: 'month' })).toBe(13);
  expect(await answer({ from: '9999-12-01', to: '9999-12-31', interval: 'hour' })).toBe(31 * 24);
  expect(await answer({ from: '2026-01-01', to: '2026-02-01', interval: 'hour' })).toMatch(/^query\.to: 2026-02-01/);
  for (const query of [{}, { from: '2026-01-01' }, { to: '2026-01-01' }])
    expect(await answer({ ...query, interval: 'hour' })).toMatch(/^query\.interval: hour needs both/);
  expect(await answer({ from: '2026-01-02', to: '2026-01-01' })).toMatch(/^query\.to: must not be before from/);
  expect(await answer({ interval: 'year' })).toMatch(/^query\.interval/);

  await plant(service, world, { visits: [visitAt(world.location.id, at('2026-05-05T10:00:00Z'))] });
  expect(await answer({ from: '2020-01-01' })).toEqual(refused);
  expect(await answer({ to: '2029-01-01' })).toBe(973);
  expect(await answer({ from: '2020-01-01', interval: 'month' })).toBe(77);
});

test('dwells are those of a recount, overall and in each zone, page by page', async () => {
  const world = await known('America/St_Johns');
  const zones = Array.from({ length: 5 }, () => newId('zone')).toSorted();
  const visits = visitsOf(world.location.id, 5, zones);
  await plant(service, world, { visits });
  const [from, to] = ['2026-03-27', '2026-10-30'];
  const chosen = visits.filter((visit) => {
    const { day } = localOf(visit, world.location.timezone, 'day');
    return from <= day && day <= to;
  });
  const edges = [0, 30, 60, 120, 300, 600, 1200, 1800, 3600].map((seconds) => seconds * 1000);
  const lengths = chosen.map(({ start, end }) => end - start);
  const histogram = edges.map((from_ms, n) => {
    const to_ms = edges[n + 1] ?? null;
    return { from_ms, to_ms, visits: lengths.filter((ms) => ms >= from_ms && ms < (to_ms ?? Infinity)).length };
  });
  const { visitors: _, ...overall } = recount(lengths, []);
  const entries = zones.map((zone_id) => {
    const there = chosen.filter((visit) => visit.zones.some((stay) => stay.zone_id === zone_id));
    const sums = there.map((visit) =>
      visit.zones.filter((stay) => stay.zone_id === zone_id).reduce((sum, { start, end }) => sum + end - start, 0),
    );
    const visitors = there.map(({ visitor_key }) => visitor_key);
    return { zone_id, location_id: world.location.id, ...recount(sums, visitors) };
  });

  for (const limit of [2, 5, 200]) {
    const seen: object[] = [];
    for (let cursor: string | undefined; ; ) {
      const { body } = await world.as(service).call(getVisitsDwell, { query: { from, to, limit, cursor } });
      expect(body).toMatchObject({ from, to, overall: { ...overall, histogram } });
      seen.push(...body.entries);
      if (body.next_cursor === null) break;
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(entries);
  }
  const { body } = await world.as(service).call(getVisitsDwell, { query: { from: '2030-01-01' } });
  const none = { visits: 0, mean_dwell_ms: null, median_dwell_ms: null, p90_dwell_ms: null };
  expect(body.overall).toEqual({ ...none, histogram: histogram.map((bar) => ({ ...bar, visits: 0 })) });
  expect([body.entries, body.next_cursor]).toEqual([[], null]);
});

test('series and dwells are of the locations that the caller sees, and of none by ids that nobody knows', async () => {
  const world = await known();
  const other = await tellLocation(service, world, 'Pacific/Kiritimati');
  const [here, there] = [world.location, other];
  const start = at('2026-06-01T12:00:00Z');
  const stay = (location: string) =>
    visitAt(location, start, { zones: [{ zone_id: newId('zone'), start, end: start + minuteMs }] });
  await plant(service, world, { visits: [stay(here.id), stay(there.id), stay(there.id)] });

  const [owner, own, foreign] = [
    world.as(service),
    narrowedTo(service, world, there.group_id),
    narrowedTo(service, world, newId('group')),
  ];
  const seen = async (client: typeof owner, query = {}) => {
    const series = (await client.call(getVisitsTimeseries, { query })).body.buckets;
    const dwell = (await client.call(getVisitsDwell, { query })).body;
    expect(dwell.overall.visits).toBe(series.reduce((sum, { visits }) => sum + visits, 0));
    return [dwell.overall.visits, dwell.entries.length];
  };
  expect(await seen(owner)).toEqual([3, 3]);
  expect(await seen(own)).toEqual([2, 2]);
  expect(await seen(foreign)).toEqual([0, 0]);
  expect(await seen(newWorld().as(service))).toEqual([0, 0]);
  expect(await seen(owner, { location_ids: here.id })).toEqual([1, 1]);
  expect(await seen(owner, { group_ids: there.group_id })).toEqual([2, 2]);
  expect(await seen(owner, { location_ids: `${newId('location')},x` })).toEqual([0, 0]);
  expect(await seen(own, { location_ids: here.id })).toEqual([0, 0]);
  // In Kiritimati it is tomorrow.
  expect(await seen(owner, { from: '2026-06-02' })).toEqual([2, 2]);
});
