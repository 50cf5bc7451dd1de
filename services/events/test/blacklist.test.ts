import {
  createBlacklistEntry,
  deleteBlacklistEntry,
  getBlacklistEntry,
  listBlacklist,
  locationDeleted,
  locationUpdated,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addressesOf, newVisitor, newWorld, startEvents, type World } from './support.ts';
import { type Owners, startOwners } from './support-owners.ts';

let service: TestService;
let owners: Owners;
beforeAll(async () => {
  owners = await startOwners();
  service = await startEvents(addressesOf(owners));
});
afterAll(async () => {
  await service.stop();
  owners.stop();
});

async function known(account?: string) {
  const world = newWorld('Europe/Zurich', account);
  await world.tell(service);
  return world;
}
type Body = Partial<Parameters<typeof createBlacklistEntry.body.parse>[0] & object>;
const create = (client: ReturnType<World['as']>, body: Body = {}, headers = {}) =>
  client.call(createBlacklistEntry, { body: { visitor_key: newVisitor(), reason: 'staff', ...body }, headers });
const narrowedTo = (world: World, group = world.location.group_id) =>
  world.as(service, { role: 'member', group_scope: 'selected', groups: { [group]: 'm' } });

test('an entry is made with what was left out as null, is read, listed and deleted, and is then gone', async () => {
  const world = await known();
  const owner = world.as(service);
  const visitor_key = newVisitor();
  const made = await create(owner, { visitor_key });
  expect([made.status, made.body]).toMatchObject([
    201,
    { visitor_key, reason: 'staff', location_id: null, from: null, until: null, note: null },
  ]);
  const times = { from: '2026-11-01T10:00:00.1239Z', until: '2026-11-02T10:00:00Z' };
  const whole = { visitor_key, reason: 'banned', location_id: world.location.id, ...times, note: 'A test' } as const;
  const other = (await create(owner, whole)).body;
  expect(other).toMatchObject({ ...whole, from: '2026-11-01T10:00:00.123Z', until: '2026-11-02T10:00:00.000Z' });
  expect((await owner.call(getBlacklistEntry, { params: { id: other.id } })).body).toEqual(other);

  const listed = async (query = {}) => (await owner.call(listBlacklist, { query })).body;
  expect((await listed()).entries).toEqual([other, made.body]);
  const first = await listed({ limit: 1 });
  expect(first.entries).toEqual([other]);
  expect(await listed({ limit: 1, cursor: first.next_cursor })).toEqual({ entries: [made.body], next_cursor: null });
  expect((await listed({ reason: 'opt_out,banned' })).entries).toEqual([other]);
  expect((await listed({ location_ids: world.location.id })).entries).toEqual([other]);
  expect((await listed({ location_ids: newId('location') })).entries).toEqual([]);
  expect((await listed({ visitor_key: newVisitor() })).entries).toEqual([]);
  expect((await listed({ visitor_key, reason: 'staff' })).entries).toEqual([made.body]);

  const params = { id: other.id };
  expect((await owner.call(deleteBlacklistEntry, { params })).status).toBe(204);
  expect((await owner.call(deleteBlacklistEntry, { params })).status).toBe(404);
  expect((await owner.call(getBlacklistEntry, { params })).status).toBe(404);
  expect((await listed()).entries).toEqual([made.body]);
});

test('400: entries of a wrong shape, and lists with a wrong filter', async () => {
  const owner = (await known()).as(service);
  const at = '2026-11-01T10:00:00.123Z';
  const wrong: Body[] = [
    { visitor_key: 'short' },
    { reason: 'rude' as 'staff' },
    { location_id: 'here' },
    { from: at, until: at },
    { from: '2026-11-01T10:00:00.1234Z', until: '2026-11-01T10:00:00.1239Z' },
    { from: '2026-11-01' },
    { note: 'x'.repeat(501) },
  ];
  for (const body of wrong) expect((await create(owner, body)).status).toBe(400);
  for (const query of [{ reason: 'rude' }, { limit: 0 }, { cursor: 'x' }, { location_ids: ',' }])
    expect((await owner.call(listBlacklist, { query })).status).toBe(400);
});

test('401: nobody; 403: readers who write, and who has no access to this service; 404: of another account', async () => {
  const world = await known();
  const entry = (await create(world.as(service))).body;
  const params = { id: entry.id };
  const statuses = async (client: ReturnType<World['as']>) => [
    (await client.call(listBlacklist)).status,
    (await create(client)).status,
    (await client.call(getBlacklistEntry, { params })).status,
    (await client.call(deleteBlacklistEntry, { params })).status,
  ];
  expect(await statuses(service.client)).toEqual([401, 401, 401, 401]);
  expect(await statuses(world.as(service, { role: 'viewer' }))).toEqual([200, 403, 200, 403]);
  expect(await statuses(world.as(service, { svc: { events: 'r' } }))).toEqual([200, 403, 200, 403]);
  expect(await statuses(world.as(service, { svc: { campaign: 'w' } }))).toEqual([403, 403, 403, 403]);
  expect(await statuses((await known()).as(service))).toEqual([200, 201, 404, 404]);
});

test('409: the same visitor, place and time again, whatever the reason; of many at once one is made', async () => {
  const world = await known();
  const [owner, visitor_key] = [world.as(service), newVisitor()];
  const bounds = [
    {},
    { location_id: world.location.id },
    { from: '2026-11-01T10:00:00Z' },
    { until: '2026-11-01T10:00:00Z' },
  ];
  for (const bound of bounds) {
    const answers = await Promise.all(
      (['staff', 'banned', 'opt_out', 'staff'] as const).map((reason) =>
        create(owner, { visitor_key, reason, ...bound }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
  }
  expect((await create(owner, { visitor_key, from: '2026-11-01T10:00:00.0009Z' })).status).toBe(409);
  expect((await create((await known()).as(service), { visitor_key })).status).toBe(201);
  const all = (await owner.call(listBlacklist)).body.entries;
  expect(all).toHaveLength(bounds.length);
  const [one] = all;
  const params = { id: one?.id ?? '' };
  const deleted = await Promise.all([1, 2, 3].map(() => owner.call(deleteBlacklistEntry, { params })));
  expect(deleted.map(({ status }) => status).toSorted()).toEqual([204, 404, 404]);
});

test('422: a location that is unknown or of another account; one that no event has told yet is asked for', async () => {
  const [world, other] = [await known(), await known()];
  const owner = world.as(service);
  owners.estate = {};
  expect((await create(owner, { location_id: newId('location') })).status).toBe(422);
  expect((await create(owner, { location_id: other.location.id })).status).toBe(422);
  const fresh = newWorld('Europe/Zurich', world.account);
  owners.estate = fresh.estate;
  expect((await create(owner, { location_id: fresh.location.id })).status).toBe(201);
  owners.away = true;
  expect((await create(owner, { location_id: newId('location') })).status).toBe(503);
  owners.away = false;
});

test('a caller narrowed to groups has to do with entries of the locations that are now in them, and no others', async () => {
  const world = await known();
  const elsewhere = await known(world.account);
  owners.estate = {};
  const [owner, narrowed] = [world.as(service), narrowedTo(world)];
  const everywhere = (await create(owner)).body;
  const other = (await create(owner, { location_id: elsewhere.location.id })).body;
  expect((await create(narrowed)).status).toBe(403);
  expect((await create(narrowed, { location_id: elsewhere.location.id })).status).toBe(422);
  const own = await create(narrowed, { location_id: world.location.id });
  expect(own.status).toBe(201);
  const seen = async (client: typeof owner) => (await client.call(listBlacklist)).body.entries.map(({ id }) => id);
  expect(await seen(narrowed)).toEqual([own.body.id]);
  expect(await seen(owner)).toEqual([own.body.id, other.id, everywhere.id]);
  for (const { id } of [everywhere, other]) {
    expect((await narrowed.call(getBlacklistEntry, { params: { id } })).status).toBe(404);
    expect((await narrowed.call(deleteBlacklistEntry, { params: { id } })).status).toBe(404);
  }

  const moved = { ...world.location, group_id: newId('group') };
  const state = { account_id: world.account, aggregate_version: 2, location: moved };
  await service.deliver(locationUpdated, state, world.account);
  expect([await seen(narrowed), await seen(narrowedTo(world, moved.group_id))]).toEqual([[], [own.body.id]]);
  const gone = { account_id: world.account, aggregate_version: 3, location_id: world.location.id };
  await service.deliver(locationDeleted, gone, world.account);
  expect(await seen(narrowedTo(world, moved.group_id))).toEqual([]);
  expect(await seen(owner)).toContain(own.body.id);
  expect((await create(narrowedTo(world, moved.group_id), { location_id: world.location.id })).status).toBe(422);
});

test('a request under one Idempotency-Key makes one entry, and gives the same answer again', async () => {
  const owner = (await known()).as(service);
  const [visitor_key, headers] = [newVisitor(), { 'idempotency-key': 'once' }];
  const answers = await Promise.all([1, 2, 3].map(() => create(owner, { visitor_key }, headers)));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect((await create(owner, {}, headers)).status).toBe(409);
  expect((await owner.call(listBlacklist)).body.entries).toHaveLength(1);
});
