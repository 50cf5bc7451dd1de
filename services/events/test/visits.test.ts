import { locationDeleted, locationUpdated, sendVisits, summarizeVisits } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { localTimeOf } from '../src/time/local-time.ts';
import { batch, newVisitor, newWorld, startEvents, type World } from './support.ts';
import { upToDate } from './support-figures.ts';

let service: TestService;
beforeAll(async () => {
  service = await startEvents();
});
afterAll(() => service.stop());

async function known(world = newWorld()) {
  await world.tell(service);
  return world;
}

/** Sends visits of the past, and returns when everything before the present is in the figures. */
async function send(world: World, items: readonly object[]) {
  const { body } = await world.player(service).call(sendVisits, batch(service, items, { clock_synced: true }));
  expect(body.accepted).toBe(items.length);
  await upToDate(service, world);
}

const day = 86_400;

/** Visits of some days, of a few people each of whom comes several times. */
function visitsOf(world: World, seed: number) {
  const chance = chanceFrom(seed);
  const people = Array.from({ length: 12 }, newVisitor);
  return Array.from({ length: 70 }, () => {
    const start = chance.int(1_000, 6 * day);
    return world.visit(service, [start, start - chance.int(1, 900)], { visitor_key: chance.pick(people), zones: [] });
  });
}

test('a summary is that of a recount, for every range of days', async () => {
  const world = await known(newWorld('Australia/Lord_Howe'));
  const visits = visitsOf(world, 3);
  await send(world, visits);
  const local = localTimeOf(world.location.timezone);
  const rows = visits
    .map((visit) => ({ ...visit, at: Date.parse(visit.entered_at), end: Date.parse(visit.left_at) }))
    .map((visit) => ({ ...visit, date: local(visit.at).date }));
  const dates = [...new Set(rows.map(({ date }) => date))].toSorted();
  const ranges = [
    [undefined, undefined],
    [dates[1], undefined],
    [undefined, dates[2]],
    [dates[2], dates[4]],
    ['2020-01-01', '2020-01-02'],
  ];
  for (const [from, to] of ranges) {
    const chosen = rows.filter(({ date }) => (from ?? '') <= date && date <= (to ?? '9'));
    const visitors = new Set(chosen.map(({ visitor_key }) => visitor_key));
    const fresh = [...visitors].filter((key) => {
      const [first] = rows.filter(({ visitor_key }) => visitor_key === key).toSorted((a, b) => a.at - b.at);
      return (first?.date ?? '') >= (from ?? '');
    });
    const dwells = chosen.map(({ at, end }) => end - at).toSorted((a, b) => a - b);
    const quantile = (p: number) => dwells[Math.ceil(p * dwells.length) - 1] ?? null;
    const sum = dwells.reduce((total, ms) => total + ms, 0);
    const { body } = await world.as(service).call(summarizeVisits, { query: { from, to } });
    expect(body).toEqual({
      ...{ from: from ?? null, to: to ?? null, as_of: body.as_of },
      ...{ visits: chosen.length, visitors: visitors.size, new_visitors: fresh.length },
      returning_visitors: visitors.size - fresh.length,
      mean_dwell_ms: dwells.length === 0 ? null : Math.floor(sum / dwells.length + 0.5),
      ...{ median_dwell_ms: quantile(0.5), p90_dwell_ms: quantile(0.9) },
    });
  }
});

test('who sees a location sees its visits, also by filters, and nobody else does', async () => {
  const world = await known();
  await send(world, [world.visit(service), world.visit(service)]);
  const { group_id, id } = world.location;
  const narrowed = (group: string) =>
    world.as(service, { role: 'member', group_scope: 'selected', groups: { [group]: 'm' } });
  const seen = async (client: ReturnType<typeof narrowed>, query = {}) =>
    (await client.call(summarizeVisits, { query })).body.visits;
  const [owner, own, other] = [world.as(service), narrowed(group_id), narrowed(newId('group'))];
  const elsewhere = newId('location');
  expect(await seen(owner)).toBe(2);
  expect(await seen(own)).toBe(2);
  expect(await seen(other)).toBe(0);
  expect(await seen(newWorld().as(service))).toBe(0);
  expect(await seen(owner, { location_ids: `${elsewhere},${id}`, group_ids: group_id })).toBe(2);
  expect(await seen(owner, { location_ids: elsewhere })).toBe(0);
  expect(await seen(owner, { location_ids: id, group_ids: newId('group') })).toBe(0);
  expect(await seen(other, { location_ids: id })).toBe(0);

  const group = newId('group');
  const state = { account_id: world.account, aggregate_version: 2, location: { ...world.location, group_id: group } };
  await service.deliver(locationUpdated, state, world.account);
  expect([await seen(own), await seen(narrowed(group))]).toEqual([0, 2]);

  const gone = { account_id: world.account, aggregate_version: 3, location_id: id };
  await service.deliver(locationDeleted, gone, world.account);
  expect([await seen(owner), await seen(owner, { group_ids: group }), await seen(narrowed(group))]).toEqual([2, 2, 0]);
});

test('as_of leaves a change of the estate the time that its event may take, and is never 10 s behind', async () => {
  const world = await known();
  const asOf = async () => Date.parse((await world.as(service).call(summarizeVisits)).body.as_of);
  const moved = service.clock.now().getTime();
  // The location may have moved at this moment, and nobody here knows it yet.
  expect(await asOf()).toBeLessThan(moved);
  service.clock.advance({ seconds: 3 });
  expect(await asOf()).toBeGreaterThanOrEqual(moved);
  expect(service.clock.now().getTime() - (await asOf())).toBeLessThan(10_000);
});

test('400: a range that ends before it begins, and days that do not exist; 401: nobody; 403: without this service', async () => {
  const world = newWorld();
  const statusOf = async (client: ReturnType<typeof world.as>, query = {}) =>
    (await client.call(summarizeVisits, { query })).status;
  const owner = world.as(service);
  expect(await statusOf(owner, { from: '2026-11-02', to: '2026-11-01' })).toBe(400);
  expect(await statusOf(owner, { from: '2026-02-30' })).toBe(400);
  expect(await statusOf(owner, { location_ids: 'a,,b' })).toBe(400);
  expect(await statusOf(owner, { from: '2026-11-01', to: '2026-11-01' })).toBe(200);
  expect(await statusOf(service.client)).toBe(401);
  expect(await statusOf(world.as(service, { svc: { campaign: 'w' } }))).toBe(403);
});
