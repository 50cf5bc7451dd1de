import { newId, newUuid } from '@attribution/ids';
import { chanceFrom, type RawPlay, type RawVisit, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { calendarOf, hourMs } from '../src/recompute/calendar.ts';
import { recomputeStretch, stretchesOf } from '../src/recompute/part.ts';
import { type EventsDatabase, openEventsDatabase } from '../src/store.ts';
import { newVisitor, newWorld, startWithPast, type World } from './support.ts';
import { factsOf, keep } from './support-stored.ts';

let service: TestService;
let database: EventsDatabase;
beforeAll(async () => {
  service = await startWithPast();
  database = openEventsDatabase({ url: String(service.db.options.connectionString), poolSize: 4 });
});
afterAll(async () => {
  await database.close();
  await service.stop();
});

const minute = 60_000;
const facts = ['visit_facts', 'dwell_facts', 'exposure_facts', 'meeting_facts', 'play_hours'];

/** Two days of visits, some of which last for hours, and of plays around an instant. */
function itemsAround(at: number, world: World, seed: number) {
  const chance = chanceFrom(seed);
  const time = () => at + chance.int(-30 * 60, 30 * 60) * minute;
  const visits = Array.from({ length: 80 }, (): RawVisit => {
    const start = time();
    const end = start + chance.int(1, chance.int(1, 5) === 1 ? 400 : 20) * minute;
    const stay = { zone_id: world.zone.id, start, end };
    return {
      event_id: newUuid(),
      visitor_key: newVisitor(),
      location_id: world.location.id,
      start,
      end,
      zones: [stay],
    };
  });
  const campaigns = [newId('campaign'), newId('campaign')];
  const plays = Array.from({ length: 400 }, (): RawPlay => {
    const start = time();
    return {
      ...{ location_id: world.location.id, zone_id: world.zone.id, screen_id: world.screen.id, version: 1 },
      ...{ campaign_id: chance.pick(campaigns), completed: true, holdout: chance.int(1, 4) === 1 },
      ...{ start, end: start + chance.int(1, 90) * minute },
    };
  });
  return { visits, plays, chance };
}

const hourOf = (instant: number) => Math.floor(instant / hourMs) * hourMs;

/** The hours that items mark when they come in. */
function hoursOf(visits: readonly RawVisit[], plays: readonly RawPlay[]): number[] {
  const hours = new Set(visits.map(({ start }) => hourOf(start)));
  for (const { start, end } of plays) for (let hour = hourOf(start); hour < end; hour += hourMs) hours.add(hour);
  return [...hours].toSorted((a, b) => a - b);
}

const clocks = [
  ['Europe/Zurich', '2026-10-25T01:00:00Z'],
  ['America/Santiago', '2026-09-06T04:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Asia/Kathmandu', '2026-11-01T18:15:00Z'],
  ['Atlantic/Azores', '2026-10-25T01:00:00Z'],
] as const;

test.each(clocks)(
  'in %s around %s the hours that items touch, each by itself and in any order, make the facts of whole days',
  async (timezone, change) => {
    const world = newWorld(timezone);
    await world.tell(service);
    const { visits, plays, chance } = itemsAround(Date.parse(change), world, 11);
    await keep(service, world.account, { visits, plays });
    const whole = await factsOf(service, world.account);
    expect(whole.meeting_facts.length).toBeGreaterThan(50);

    const place = { account_id: world.account, location_id: world.location.id };
    const calendar = calendarOf(timezone, undefined);
    const recompute = (hours: readonly number[]) =>
      database.sqlTransaction(async (tx) => {
        for (const stretch of stretchesOf(hours)) await recomputeStretch(tx, place, calendar, stretch);
      });
    const none = () =>
      Promise.all(
        facts.map((table) => service.db.query(`DELETE FROM ${table} WHERE account_id = $1`, [world.account])),
      );
    const hours = hoursOf(visits, plays);

    await none();
    const shuffled = hours.map((hour) => ({ hour, at: chance.share() })).toSorted((a, b) => a.at - b.at);
    for (const { hour } of shuffled) await recompute([hour]);
    expect(await factsOf(service, world.account)).toEqual(whole);

    await none();
    for (let from = 0; from < hours.length; from += 5) await recompute(hours.slice(from, from + 5));
    expect(await factsOf(service, world.account)).toEqual(whole);
  },
);

test('what an hour no longer has leaves its facts: a visit that the blacklist leaves out, a play of another version', async () => {
  const world = newWorld('UTC');
  await world.tell(service);
  const at = Date.parse('2026-10-20T10:20:00Z');
  const { visits, plays } = itemsAround(at, world, 5);
  await keep(service, world.account, { visits, plays });
  const before = await factsOf(service, world.account);
  const [first] = visits.toSorted((a, b) => b.end - b.start - (a.end - a.start));
  await service.db.query(
    `INSERT INTO blacklist_entries (account_id, id, visitor_key, reason, created_by, created_at) VALUES ($1, $2, $3, 'staff', 'usr_1', now())`,
    [world.account, 'blk_1', first?.visitor_key],
  );
  const place = { account_id: world.account, location_id: world.location.id };
  const [stretch] = stretchesOf([hourOf(first?.start ?? 0)]);
  await database.sqlTransaction(async (tx) => {
    if (stretch) await recomputeStretch(tx, place, calendarOf('UTC', undefined), stretch);
  });
  const after = await factsOf(service, world.account);
  for (const table of ['visit_facts', 'dwell_facts', 'exposure_facts', 'meeting_facts'] as const)
    expect(after[table]).toEqual(before[table].filter((fact) => (fact as RawVisit).event_id !== first?.event_id));
  expect(after.play_hours).toEqual(before.play_hours);
});

test('days whose items have left in part keep their figures', async () => {
  const world = newWorld('UTC');
  await world.tell(service);
  const at = Date.parse('2026-10-20T00:00:00Z');
  const { visits, plays } = itemsAround(at, world, 6);
  await keep(service, world.account, { visits, plays });
  const before = await factsOf(service, world.account);
  await service.db.query('DELETE FROM visits WHERE account_id = $1', [world.account]);
  await service.db.query('DELETE FROM plays WHERE account_id = $1', [world.account]);
  const place = { account_id: world.account, location_id: world.location.id };
  // Of the two days around midnight the first has lost its items.
  const calendar = calendarOf('UTC', at - 24 * hourMs - hourMs);
  const days = await database.sqlTransaction((tx) =>
    recomputeStretch(tx, place, calendar, { from: at - 2 * hourMs, to: at + 2 * hourMs }),
  );
  expect([...days]).toEqual(['2026-10-20']);
  const of = (date: string) => (fact: object) => (fact as { date: string }).date === date;
  const after = await factsOf(service, world.account);
  expect(after.play_hours.filter(of('2026-10-19'))).toEqual(before.play_hours.filter(of('2026-10-19')));
  expect(after.visit_facts.filter(of('2026-10-19'))).toEqual(before.visit_facts.filter(of('2026-10-19')));
});
