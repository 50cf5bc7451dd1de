import { createBlacklistEntry, listCohorts, summarizeLoyalty } from '@attribution/contracts';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { localTimeOf } from '../src/time/local-time.ts';
import { newVisitor, newWorld, startEvents, type World } from './support.ts';
import { sendPast, upToDate } from './support-figures.ts';

let service: TestService;
beforeAll(async () => {
  service = await startEvents();
});
afterAll(() => service.stop());

const day = 86_400;

interface Row {
  readonly key: string;
  readonly location: string;
  readonly at: number;
  readonly event: string;
  readonly date: string;
}

/** Two locations whose local days are hardly ever the same, and people who come to both; one is on the blacklist. */
async function chain(seed: number) {
  const chance = chanceFrom(seed);
  const first = newWorld('Pacific/Kiritimati');
  const worlds = [first, newWorld('Pacific/Honolulu', first.account)];
  for (const world of worlds) await world.tell(service);
  const people = Array.from({ length: 25 }, newVisitor);
  const [staff] = people;
  const body = { visitor_key: staff ?? '', reason: 'staff' } as const;
  await first.as(service).call(createBlacklistEntry, { body });
  const rows: Row[] = [];
  for (const world of worlds) {
    const local = localTimeOf(world.location.timezone);
    const visits = Array.from({ length: 45 }, () => {
      const start = chance.int(1_000, chance.pick([3, 30, 85]) * day);
      return world.visit(service, [start, start - 60], { visitor_key: chance.pick(people), zones: [] });
    });
    await sendPast(service, world, visits);
    for (const { visitor_key: key, entered_at, event_id: event } of visits) {
      const at = Date.parse(entered_at);
      if (key !== staff) rows.push({ key, location: world.location.id, at, event, date: local(at).date });
    }
  }
  await upToDate(service, first);
  return {
    worlds,
    rows: rows.toSorted((a, b) => a.at - b.at || (a.event < b.event ? -1 : 1)),
    owner: first.as(service),
  };
}

const dayOf = (date: string) => Date.parse(date) / 86_400_000;
const within = ({ date }: Row, from: string | undefined, to: string | undefined) =>
  (from ?? '') <= date && date <= (to ?? '9');
const byVisitor = (rows: readonly Row[]) => Map.groupBy(rows, ({ key }) => key);

/** The definitions, visitor by visitor. */
function recount(all: readonly Row[], from?: string, to?: string) {
  const chosen = byVisitor(all.filter((row) => within(row, from, to)));
  const firsts = byVisitor(all);
  const fresh = [...chosen.keys()].filter((key) => (firsts.get(key)?.[0]?.date ?? '') >= (from ?? ''));
  const often = [...chosen.values()].map(({ length }) => Math.min(5, length));
  const gaps = [...chosen.values()]
    .flatMap((rows) => rows.slice(1).map(({ date }, at) => Math.max(0, dayOf(date) - dayOf(rows[at]?.date ?? ''))))
    .toSorted((a, b) => a - b);
  const [visitors, returning] = [chosen.size, chosen.size - fresh.length];
  return {
    ...{ visitors, new_visitors: fresh.length, returning_visitors: returning },
    returning_rate: visitors === 0 ? null : expect.closeTo((100 * returning) / visitors, 9),
    visits_per_visitor: visitors === 0 ? null : expect.closeTo([...chosen.values()].flat().length / visitors, 9),
    frequency: [1, 2, 3, 4, 5].map((visits) => ({ visits, visitors: often.filter((n) => n === visits).length })),
    median_days_between_visits: gaps[Math.ceil(gaps.length / 2) - 1] ?? null,
  };
}

const periodOf = (date: string, interval: string) => {
  const plain = Temporal.PlainDate.from(date);
  return interval === 'month' ? plain.with({ day: 1 }) : plain.subtract({ days: plain.dayOfWeek - 1 });
};

function recountCohorts(all: readonly Row[], interval: 'week' | 'month', worlds: readonly World[], [from, to]: Range) {
  const now = service.clock.now().getTime();
  const todays = worlds.map(({ location }) => localTimeOf(location.timezone)(now).date).toSorted();
  const members = [...byVisitor(all).values()].filter(([first]) => first && within(first, from, to));
  const cohorts = Map.groupBy(members, ([first]) => periodOf(first?.date ?? '', interval).toString());
  return [...cohorts.keys()].toSorted().map((date) => {
    const people = cohorts.get(date) ?? [];
    const periods: object[] = [];
    for (let offset = 1; ; offset++) {
      const begin = Temporal.PlainDate.from(date)
        .add({ [`${interval}s`]: offset })
        .toString();
      if (begin > (todays.at(-1) ?? '')) break;
      const came = people.filter((rows) =>
        rows.some((row) => periodOf(row.date, interval).toString() === begin),
      ).length;
      const end = Temporal.PlainDate.from(begin)
        .add({ [`${interval}s`]: 1 })
        .toString();
      const rate = expect.closeTo((100 * came) / people.length, 9);
      periods.push({ offset, visitors: came, rate, complete: todays.every((today) => today >= end) });
    }
    return { date, visitors: people.length, periods };
  });
}
type Range = readonly (string | undefined)[];

test('loyalty and cohorts are those of a recount, for every range and place', async () => {
  const { worlds, rows, owner } = await chain(1);
  const dates = [...new Set(rows.map(({ date }) => date))].toSorted();
  const some = (share: number) => dates[Math.floor(dates.length * share)];
  const ranges: Range[] = [
    [],
    [some(0.4)],
    [undefined, some(0.7)],
    [some(0.3), some(0.8)],
    ['2020-01-06', '2020-02-02'],
  ];
  const places = [undefined, worlds[0]?.location.id];
  for (const [from, to] of ranges)
    for (const place of places) {
      const own = rows.filter(({ location }) => place === undefined || location === place);
      const query = { from, to, location_ids: place };
      const { body } = await owner.call(summarizeLoyalty, { query });
      expect(body).toEqual({ from: from ?? null, to: to ?? null, as_of: body.as_of, ...recount(own, from, to) });
      const seen = worlds.filter(({ location }) => place === undefined || location.id === place);
      for (const interval of ['week', 'month'] as const) {
        const { body: found } = await owner.call(listCohorts, { query: { ...query, interval } });
        expect([found.interval, found.cohorts]).toEqual([interval, recountCohorts(own, interval, seen, [from, to])]);
      }
    }
  expect((await owner.call(listCohorts)).body.interval).toBe('month');
});

test('nobody comes to an account without locations', async () => {
  const owner = newWorld().as(service);
  expect((await owner.call(summarizeLoyalty)).body).toMatchObject(recount([]));
  expect((await owner.call(listCohorts)).body.cohorts).toEqual([]);
});

test('400: wrong ranges and intervals, and more than 60 cohorts; 401: nobody; 403: without this service', async () => {
  const world = newWorld();
  const owner = world.as(service);
  const cohorts = async (query: object) => (await owner.call(listCohorts, { query: { ...query } })).status;
  expect(await cohorts({ from: '2026-11-02', to: '2026-11-01' })).toBe(400);
  expect(await cohorts({ interval: 'day' })).toBe(400);
  expect(await cohorts({ from: '2021-12-31', to: '2026-11-01' })).toBe(200);
  expect(await cohorts({ from: '2021-11-30', to: '2026-11-01' })).toBe(400);
  expect(await cohorts({ from: '2026-01-04', to: '2027-02-15', interval: 'week' })).toBe(200);
  expect(await cohorts({ from: '2026-01-04', to: '2027-02-22', interval: 'week' })).toBe(400);
  for (const endpoint of [summarizeLoyalty, listCohorts] as unknown as [typeof summarizeLoyalty]) {
    expect((await owner.call(endpoint, { query: { from: '2026-11-02', to: '2026-11-01' } })).status).toBe(400);
    expect((await service.client.call(endpoint)).status).toBe(401);
    expect((await world.as(service, { svc: { campaign: 'w' } }).call(endpoint)).status).toBe(403);
  }
});
