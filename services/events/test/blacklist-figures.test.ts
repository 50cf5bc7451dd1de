import {
  createBlacklistEntry,
  deleteBlacklistEntry,
  listBlacklist,
  sendPlays,
  summarizeVisits,
} from '@attribution/contracts';
import { type Chance, chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { batch, newVisitor, newWorld, startEvents, type World } from './support.ts';
import { holdEvents, sendPast, upToDate } from './support-figures.ts';

let service: TestService;
beforeAll(async () => {
  service = await startEvents();
});
afterAll(() => service.stop());

const day = 86_400;

/** Two locations of an account, and people who come to both. */
async function chain() {
  const first = newWorld('Europe/Zurich');
  const second = newWorld('Asia/Kolkata', first.account);
  for (const world of [first, second]) await world.tell(service);
  return { worlds: [first, second] as const, people: Array.from({ length: 8 }, newVisitor), owner: first.as(service) };
}
type Chain = Awaited<ReturnType<typeof chain>>;

const visitsOf = (world: World, people: readonly string[], chance: Chance, count: number) =>
  Array.from({ length: count }, () => {
    const start = chance.int(1_000, 4 * day);
    return world.visit(service, [start, start - chance.int(10, 900)], { visitor_key: chance.pick(people) });
  });
type Visit = ReturnType<typeof visitsOf>[number];

/** An entry for one of the people; its bounds are often those of a visit. */
function newEntry({ worlds, people }: Chain, visits: readonly Visit[], chance: Chance) {
  const instant = () => (chance.int(1, 2) === 1 ? null : chance.pick(visits).entered_at);
  const [from, until] = [instant(), instant()];
  const bounds = from !== null && until !== null && from >= until ? { from } : { from, until };
  const location_id = chance.pick([null, ...worlds.map(({ location }) => location.id)]);
  return { visitor_key: chance.pick(people), reason: 'staff' as const, location_id, ...bounds };
}

/** The definition, visit by visit. */
async function recount({ owner }: Chain, visits: readonly Visit[]) {
  const { entries } = (await owner.call(listBlacklist, { query: { limit: 200 } })).body;
  const counted = visits.filter(
    (visit) =>
      !entries.some(
        ({ visitor_key, location_id, from, until }) =>
          visitor_key === visit.visitor_key &&
          (location_id === null || location_id === visit.location_id) &&
          (from === null || visit.entered_at >= from) &&
          (until === null || visit.entered_at < until),
      ),
  );
  return {
    counted,
    summary: { visits: counted.length, visitors: new Set(counted.map(({ visitor_key }) => visitor_key)).size },
  };
}

async function expectRecount(chain: Chain, visits: readonly Visit[]): Promise<void> {
  await upToDate(service, chain.worlds[0]);
  const { summary, counted } = await recount(chain, visits);
  expect((await chain.owner.call(summarizeVisits)).body).toMatchObject(summary);
  for (const { location } of chain.worlds) {
    const { body } = await chain.owner.call(summarizeVisits, { query: { location_ids: location.id } });
    expect(body.visits).toBe(counted.filter(({ location_id }) => location_id === location.id).length);
  }
}

test('the figures are those of a recount without the visits on the blacklist, and come back when an entry goes', async () => {
  const own = await chain();
  const chance = chanceFrom(5);
  const visits = own.worlds.flatMap((world) => visitsOf(world, own.people, chance, 60));
  for (const world of own.worlds) {
    await sendPast(
      service,
      world,
      visits.filter(({ location_id }) => location_id === world.location.id),
    );
  }
  const raw = 'SELECT * FROM visits WHERE account_id = $1 ORDER BY event_id';
  const before = (await service.db.query(raw, [own.worlds[0].account])).rows;
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) {
    const { status, body } = await own.owner.call(createBlacklistEntry, { body: newEntry(own, visits, chance) });
    if (status === 201) ids.push(body.id);
  }
  await expectRecount(own, visits);
  const { counted } = await recount(own, visits);
  expect([counted.length > 0, counted.length < visits.length]).toEqual([true, true]);
  for (const id of ids.splice(0, 5)) await own.owner.call(deleteBlacklistEntry, { params: { id } });
  await expectRecount(own, visits);
  for (const id of ids) await own.owner.call(deleteBlacklistEntry, { params: { id } });
  await expectRecount(own, visits);
  expect((await own.owner.call(summarizeVisits)).body.visits).toBe(visits.length);
  expect((await service.db.query(raw, [own.worlds[0].account])).rows).toEqual(before);
});

test('who is on the blacklist was not exposed, and the play stays', async () => {
  const { worlds, owner } = await chain();
  const [world] = worlds;
  const visit = world.visit(service);
  await sendPast(service, world, [visit]);
  await world.player(service).call(sendPlays, batch(service, [world.play(service)]));
  const facts = async () => {
    await upToDate(service, world);
    const count = async (table: string) =>
      (await service.db.query(`SELECT 1 FROM ${table} WHERE account_id = $1`, [world.account])).rowCount;
    const tables = ['visit_facts', 'dwell_facts', 'exposure_facts', 'meeting_facts', 'play_hours'];
    return Promise.all(tables.map(count));
  };
  expect(await facts()).toEqual([1, 1, 1, 1, 1]);
  const body = { visitor_key: visit.visitor_key, reason: 'opt_out' } as const;
  const { id } = (await owner.call(createBlacklistEntry, { body })).body;
  expect(await facts()).toEqual([0, 0, 0, 0, 1]);
  await owner.call(deleteBlacklistEntry, { params: { id } });
  expect(await facts()).toEqual([1, 1, 1, 1, 1]);
});

test('while visits stream in and entries come and go at the same time, the figures end as a recount', async () => {
  const own = await chain();
  const chance = chanceFrom(11);
  const visits: Visit[] = [];
  const made: string[] = [];
  for (let round = 0; round < 12; round++) {
    const sent = own.worlds.map((world) => ({ world, some: visitsOf(world, own.people, chance, chance.int(1, 12)) }));
    visits.push(...sent.flatMap(({ some }) => some));
    const entries = Array.from({ length: 3 }, () => newEntry(own, visits, chance));
    const [ending] = made.splice(0, 1);
    await Promise.all([
      ...sent.map(({ world, some }) => sendPast(service, world, some)),
      ...entries.map(async (body) => {
        const answer = await own.owner.call(createBlacklistEntry, { body });
        if (answer.status === 201) made.push(answer.body.id);
      }),
      ending && own.owner.call(deleteBlacklistEntry, { params: { id: ending } }),
    ]);
  }
  await expectRecount(own, visits);
});

test('a visit that is received while its entry is being made, or deleted, is judged by the entry', async () => {
  const [making, deleting] = [await chain(), await chain()];
  const body = { visitor_key: newVisitor(), reason: 'staff' } as const;
  const send = ({ worlds: [world] }: Chain, at: number) =>
    sendPast(service, world, [world.visit(service, [at, at - 60], { visitor_key: body.visitor_key })]);
  const { id } = (await deleting.owner.call(createBlacklistEntry, { body })).body;
  for (const own of [making, deleting]) await send(own, 9_000);
  for (const own of [making, deleting]) await upToDate(service, own.worlds[0]);

  const held = await holdEvents(service, 'events.audit_recorded');
  const changes = [
    making.owner.call(createBlacklistEntry, { body }),
    deleting.owner.call(deleteBlacklistEntry, { params: { id } }),
  ];
  await held.wait(changes.length);
  // The changes have marked their visits and are not committed; now there are more, on another day.
  for (const own of [making, deleting]) await send(own, 3 * day);
  // If these were counted now, nothing would count them anew after the changes.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await held.letGo();
  expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([201, 204]);
  for (const [own, expected] of [
    [making, 0],
    [deleting, 2],
  ] as const) {
    await upToDate(service, own.worlds[0]);
    expect((await own.owner.call(summarizeVisits)).body.visits).toBe(expected);
  }
});
