import { createBlacklistEntry, rebuildRollups, sendPlays, sendVisits } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { createOutbox } from '@attribution/messaging';
import { chanceFrom, eventually, internalToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recomputeJob } from '../src/recompute/recompute.ts';
import { openEventsDatabase } from '../src/store.ts';
import { localTimeOf } from '../src/time/local-time.ts';
import { batch, newVisitor, newWorld, startEvents, type World } from './support.ts';
import { holdEvents, sendPast, upToDate } from './support-figures.ts';
import { factsOf } from './support-stored.ts';

let service: TestService;
beforeAll(async () => {
  service = await startEvents();
});
afterAll(() => service.stop());

const day = 86_400;

async function known(timezone: string, account?: string) {
  const world = newWorld(timezone, account);
  await world.tell(service);
  return world;
}

type Body = Omit<ReturnType<typeof rebuildRollups.body.parse>, 'account_id'>;
const rebuild = (account_id: string, body: Partial<Body> = {}) =>
  service.client
    .with({ token: internalToken('events', 'events') })
    .call(rebuildRollups, { body: { account_id, ...body } });

const dateIn = (world: World, seconds: number) =>
  localTimeOf(world.location.timezone)(service.clock.now().getTime() - seconds * 1000).date;

test('a rebuild makes facts right that were wrong, changes no others, and delays no figure', async () => {
  const world = await known('Asia/Kolkata');
  const other = await known('Pacific/Honolulu', world.account);
  const { account } = world;
  const days = [40, 39, 20, 9, 2].map((ago) => ago * day);
  await sendPast(
    service,
    world,
    days.flatMap((at) => [world.visit(service, [at, at - 600])]),
  );
  await sendPast(service, other, [other.visit(service, [3 * day, 3 * day - 600])]);
  const play = world.play(service, [20 * day - 100, 20 * day - 110]);
  await world.player(service).call(sendPlays, batch(service, [play], { clock_synced: true }));
  const right = await factsOf(service, account);
  expect(right.exposure_facts).toHaveLength(1);

  const { status, body } = await rebuild(account);
  expect([status, body]).toEqual([202, { location_days: 6 }]);
  await upToDate(service, world);
  expect(await factsOf(service, account)).toEqual(right);

  await service.db.query('DELETE FROM visit_facts WHERE account_id = $1', [account]);
  await service.db.query('UPDATE play_hours SET plays = 7 WHERE account_id = $1', [account]);
  const [from, to] = [dateIn(world, 20 * day), dateIn(world, 9 * day)];
  expect((await rebuild(account, { from, to, location_ids: [world.location.id] })).body).toEqual({ location_days: 2 });
  const some = await factsOf(service, account);
  expect([some.visit_facts?.length, some.play_hours]).toEqual([2, right.play_hours]);
  expect((await rebuild(account)).body).toEqual({ location_days: 6 });
  expect(await factsOf(service, account)).toEqual(right);

  const empty = [
    rebuild(account, { location_ids: [newId('location')] }),
    rebuild(account, { location_ids: [] }),
    rebuild(account, { to: '2020-01-01' }),
    rebuild(newId('account')),
  ];
  for (const answer of await Promise.all(empty)) expect(answer.body).toEqual({ location_days: 0 });
});

test('400: a rebuild of no account, and of a range that ends before it begins; 401: nobody; 403: another service', async () => {
  const body = { account_id: newId('account') };
  expect((await rebuild('acc_x')).status).toBe(400);
  expect((await rebuild(body.account_id, { from: '2026-11-02', to: '2026-11-01' })).status).toBe(400);
  expect((await service.client.call(rebuildRollups, { body })).status).toBe(401);
  const stranger = service.client.with({ token: internalToken('campaign', 'events') });
  expect((await stranger.call(rebuildRollups, { body })).status).toBe(403);
});

/** Another worker on the same database, which never pauses. */
function startWorker() {
  const database = openEventsDatabase({ url: String(service.db.options.connectionString), poolSize: 8 });
  const job = recomputeJob({ database, outbox: createOutbox(() => {}), clock: service.clock });
  const stopping = new AbortController();
  let runs = 0;
  const running = (async () => {
    for (; !stopping.signal.aborted; runs++) await job.run(stopping.signal);
  })();
  return {
    runs: () => runs,
    async stop() {
      stopping.abort();
      await running.finally(() => database.close());
    },
  };
}

test('while a worker has a location, others leave it alone and go on; what came meanwhile is counted after', async () => {
  const world = await known('Europe/Zurich');
  const at = 5 * day;
  const held = await holdEvents(service, 'events.recomputed');
  await sendPast(service, world, [world.visit(service, [at, at - 60])]);
  await held.wait(1);
  await sendPast(service, world, [world.visit(service, [at - 1, at - 61])]);
  const workers = [startWorker(), startWorker()];
  await eventually(() => expect(workers.map((worker) => worker.runs() > 2)).toEqual([true, true]));
  await held.letGo();
  expect((await factsOf(service, world.account)).visit_facts).toHaveLength(2);
  await Promise.all(workers.map((worker) => worker.stop()));
});

test('several workers lose no mark and meet nowhere, while items stream in, and days are rebuilt, and the blacklist changes', async () => {
  const first = await known('Europe/Zurich');
  const worlds = [first, await known('Asia/Kolkata', first.account), await known('America/New_York', first.account)];
  const chance = chanceFrom(4);
  const staff = newVisitor();
  const workers = [startWorker(), startWorker()];
  const visits: { readonly event_id: string; readonly visitor_key: string }[] = [];
  let plays = 0;
  for (let round = 0; round < 10; round++) {
    const sendings = worlds.flatMap((world) => {
      const times = () => {
        const at = chance.int(1_000, 30 * day);
        return [at, at - 60] as const;
      };
      const some = Array.from({ length: chance.int(1, 6) }, () =>
        world.visit(service, times(), { visitor_key: chance.int(1, 5) === 1 ? staff : newVisitor() }),
      );
      const played = Array.from({ length: chance.int(1, 4) }, () => world.play(service, times()));
      visits.push(...some);
      plays += played.length;
      const client = world.player(service);
      return [
        client.call(sendVisits, batch(service, some, { clock_synced: true })),
        client.call(sendPlays, batch(service, played, { clock_synced: true })),
      ];
    });
    const statuses = [...sendings, ...(round % 3 === 1 ? [rebuild(first.account)] : [])];
    const body = { visitor_key: staff, reason: 'staff' } as const;
    if (round === 5) statuses.push(first.as(service).call(createBlacklistEntry, { body }) as never);
    for (const { status } of await Promise.all(statuses)) expect(status).toBeLessThan(300);
  }
  const facts = await factsOf(service, first.account);
  await Promise.all(workers.map((worker) => worker.stop()));
  const counted = visits.filter(({ visitor_key }) => visitor_key !== staff).map(({ event_id }) => event_id);
  const found = (facts.visit_facts as { event_id: string }[]).map(({ event_id }) => event_id);
  expect(found.toSorted()).toEqual(counted.toSorted());
  expect((facts.play_hours as { plays: number }[]).reduce((sum, hour) => sum + hour.plays, 0)).toBe(plays);
  expect(service.logs.text()).not.toContain('A job failed');
  await rebuild(first.account);
  expect(await factsOf(service, first.account)).toEqual(facts);
});
