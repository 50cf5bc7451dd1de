import { locationUpdated, sendPlays, sendVisits } from '@attribution/contracts';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exposuresOf } from '../src/exposures/exposures.ts';
import { localTimeOf } from '../src/time/local-time.ts';
import { batch, newVisitor, newWorld, startEvents, type World } from './support.ts';
import { factsOf } from './support-stored.ts';

let service: TestService;
beforeAll(async () => {
  service = await startEvents();
});
afterAll(() => service.stop());

/** Days of visits and plays, across midnights, that devices of the world send. */
function chain(world: World, seed: number) {
  const chance = chanceFrom(seed);
  const visits = Array.from({ length: 60 }, () => {
    const start = chance.int(300, 60 * 3_600);
    return world.visit(service, [start, start - chance.int(60, 280)], { visitor_key: newVisitor() });
  });
  visits.push(world.visit(service, [50 * 3_600, 30 * 3_600]));
  const plays = Array.from({ length: 200 }, () => {
    const start = chance.int(60, 60 * 3_600);
    return world.play(service, [start, start - chance.int(5, 50)], { holdout: chance.int(1, 5) === 1 });
  });
  const cut = <T>(items: readonly T[]) => {
    const shuffled = items.map((item) => ({ item, at: chance.share() })).toSorted((a, b) => a.at - b.at);
    const all = shuffled.map(({ item }) => item);
    const batches: T[][] = [];
    while (all.length > 0) batches.push(all.splice(0, chance.int(1, 90)));
    return batches;
  };
  return { visits, plays, cut, chance };
}

/** Items are of the past, so their clock has to be right for their times to stay. */
const right = { clock_synced: true };

test('figures are those of the items, whatever the order and the cuts in which they came, and how often', async () => {
  const world = newWorld();
  await world.tell(service);
  const { visits, plays, cut, chance } = chain(world, 7);
  const client = world.player(service);
  const send = (items: readonly unknown[], plays: boolean) =>
    client.call(plays ? sendPlays : sendVisits, batch(service, items, right));

  const batches = [
    ...cut(visits).map((items) => [items, false] as const),
    ...cut(plays).map((items) => [items, true] as const),
  ];
  for (const [items, arePlays] of batches.toSorted(() => chance.share() - 0.5)) {
    await send(items, arePlays);
    if (chance.int(1, 3) === 1) await send(items, arePlays);
  }
  const first = await factsOf(service, world.account);
  // Hours were counted by themselves; whole days are the same.
  await service.db.query(
    `INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
     SELECT DISTINCT account_id, location_id, date_trunc('hour', started_at), now() FROM plays WHERE account_id = $1`,
    [world.account],
  );
  expect(await factsOf(service, world.account)).toEqual(first);
  await Promise.all([
    ...cut(plays).map((items) => send(items, true)),
    ...cut(visits).map((items) => send(items, false)),
  ]);
  // All is marked once more, as a rebuild would.
  await service.db.query(
    `INSERT INTO dirty_hours (account_id, location_id, hour, marked_at)
     SELECT DISTINCT account_id, location_id, date_trunc('hour', entered_at), now() FROM visits WHERE account_id = $1`,
    [world.account],
  );
  expect(await factsOf(service, world.account)).toEqual(first);

  const at = (text: string) => Date.parse(text);
  const expected = exposuresOf(
    visits.flatMap(({ event_id, zones }) =>
      zones.map((stay) => ({ visit: event_id, zone: stay.zone_id, start: at(stay.entered_at), end: at(stay.left_at) })),
    ),
    plays.map((play) => ({
      ...{ campaign: world.campaign, zone: world.zone.id, held: (play as { holdout?: boolean }).holdout === true },
      ...{ start: at(play.started_at), end: at(play.ended_at) },
    })),
    localTimeOf(world.location.timezone),
  );
  const exposed = (first.exposure_facts ?? []) as { event_id: string; exposure_ms: number; first_at: string }[];
  expect(exposed.map((fact) => [fact.event_id, at(fact.first_at), fact.exposure_ms]).toSorted()).toEqual(
    expected.exposures.map(({ visit, first: instant, exposureMs }) => [visit, instant, exposureMs]).toSorted(),
  );
  const met = (first.meeting_facts ?? []) as { pairs: number }[];
  expect(met.reduce((sum, { pairs }) => sum + pairs, 0)).toBe(
    expected.meetings.reduce((sum, { pairs }) => sum + pairs, 0),
  );
  expect(first.visit_facts).toHaveLength(61);
  const played = (first.play_hours ?? []) as { plays: number; held_plays: number }[];
  expect(played.reduce((sum, hour) => sum + hour.plays + hour.held_plays, 0)).toBe(200);
});

test('a visit of yesterday that stays meets what is played today, also if the play is told last', async () => {
  const world = newWorld('UTC');
  await world.tell(service);
  const client = world.player(service);
  const midnight = Date.parse(new Date(service.clock.now().getTime() - 6 * 3_600_000).toISOString().slice(0, 10));
  const at = (ms: number) => new Date(midnight + ms).toISOString();
  const stay = { entered_at: at(-3_600_000), left_at: at(5_000) };
  const visit = world.visit(service, undefined, { ...stay, zones: [{ zone_id: world.zone.id, ...stay }] });
  await client.call(sendVisits, batch(service, [visit], right));
  await factsOf(service, world.account);
  const play = world.play(service, undefined, { started_at: at(1_000), ended_at: at(9_000) });
  await client.call(sendPlays, batch(service, [play], right));
  const { exposure_facts, visit_facts } = await factsOf(service, world.account);
  const day = (instant: number) => new Date(instant).toISOString().slice(0, 10);
  expect(visit_facts).toMatchObject([{ date: day(midnight - 1) }]);
  expect(exposure_facts).toMatchObject([{ date: day(midnight - 1), first_date: day(midnight), exposure_ms: 4_000 }]);
});

test('a location that moves to another time zone takes its days along', async () => {
  const world = newWorld('UTC');
  await world.tell(service);
  const client = world.player(service);
  await client.call(sendVisits, batch(service, [world.visit(service, [90_000, 89_000])], right));
  const before = await factsOf(service, world.account);
  const [first] = before.visit_facts as { date: string; hour: number; entered_at: string }[];
  const timezone = Number(first?.hour) < 10 ? 'Pacific/Honolulu' : 'Pacific/Kiritimati';
  const state = { account_id: world.account, aggregate_version: 2, location: { ...world.location, timezone } };
  await service.deliver(locationUpdated, state, world.account);
  const { visit_facts } = await factsOf(service, world.account);
  const expected = localTimeOf(timezone)(Date.parse(first?.entered_at ?? ''));
  expect(visit_facts).toMatchObject([{ date: expected.date, hour: expected.hour }]);
  expect(expected.date).not.toBe(first?.date);
});
