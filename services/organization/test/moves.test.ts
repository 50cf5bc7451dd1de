import { exportEstate, matchScreens, updateLocation } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { bodyIn, insideKinds, type KindName, kinds, placedKinds } from './kinds.ts';
import { type Caller, newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
let tenant: Tenant;
let tree: Tree;
let away: string;
beforeAll(async () => {
  service = await startOrganization();
});
beforeEach(async () => {
  tenant = newTenant(service);
  tree = await tenant.tree();
  away = (await tenant.group('Away')).id;
});
afterAll(() => service.stop());

const move = () => tenant.owner.call(updateLocation, { params: { id: tree.location.id }, body: { group_id: away } });

/** For each kind, every filter that finds the thing in the tree. */
const filtersOf = (kind: KindName, groupId: string): Record<string, string>[] => [
  { group_ids: groupId },
  ...(kind === 'location' ? [] : [{ location_ids: tree.location.id }]),
  ...(kind === 'screen' || kind === 'camera' ? [{ zone_ids: tree.zone.id }] : []),
  ...(kind === 'installation'
    ? [{ screen_ids: tree.screen.id }, { device_ids: tree.installation.device_id }, { status: 'live' }]
    : []),
];

/** What a caller sees of a kind through every endpoint: its list, each filter, its id, and for screens a match. */
async function sights(caller: Caller, kind: (typeof placedKinds)[number], groupId: string): Promise<boolean[]> {
  const { list, get } = kinds[kind];
  const { id } = tree[kind];
  const has = (entries: readonly { id: string }[]) => entries.some((entry) => entry.id === id);
  const seen = [has((await caller.call(list)).body.entries)];
  for (const query of filtersOf(kind, groupId)) seen.push(has((await caller.call(list, { query })).body.entries));
  seen.push((await caller.call(get, { params: { id } })).status === 200);
  seen.push((await caller.call(exportEstate)).body.text.includes(id));
  if (kind === 'screen') {
    const { total, groups, entries } = (await caller.call(matchScreens)).body;
    seen.push(
      has(entries),
      total === 1,
      groups.some(({ group_id }) => group_id === groupId),
    );
  }
  return seen;
}

test.each(placedKinds)(
  'a location moved to another group takes every %s along at once, out of the sight of one and into that of the other',
  async (kind) => {
    const callers = [
      [tree.group.id, tenant.narrowed({ [tree.group.id]: 'a' }), tenant.key({ groups: { [tree.group.id]: 'm' } })],
      [away, tenant.narrowed({ [away]: 'm' }), tenant.key({ groups: { [away]: 'm' } })],
    ] as const;
    const expectSeen = async (byFormer: boolean, byLatter: boolean) => {
      for (const [at, [groupId, ...both]] of callers.entries()) {
        for (const caller of both) {
          const seen = await sights(caller, kind, groupId);
          expect(seen).toEqual(seen.map(() => (at === 0 ? byFormer : byLatter)));
        }
      }
    };
    await expectSeen(true, false);
    expect((await move()).status).toBe(200);
    await expectSeen(false, true);
  },
);

test('after a move the former admin changes, deletes and adds nothing there, and the new one does', async () => {
  const [former, latter] = [tenant.narrowed({ [tree.group.id]: 'a' }), tenant.narrowed({ [away]: 'a' })];
  await move();
  for (const kind of placedKinds) {
    const { update, remove } = kinds[kind];
    const params = { id: tree[kind].id };
    expect((await former.call(update, { params, body: {} })).problem?.kind).toBe('not-found');
    expect((await former.call(remove, { params })).problem?.kind).toBe('not-found');
    expect((await latter.call(update, { params, body: { name: 'Theirs' } })).status).toBe(200);
  }
  for (const kind of insideKinds) {
    const body = bodyIn(kind, tree) as never;
    expect((await former.call(kinds[kind].create, { body })).problem?.kind).toBe('unprocessable');
    expect((await latter.call(kinds[kind].create, { body })).status).toBe(201);
  }
});

test('a move changes only the group of what is in the location, and publishes one event, for the location', async () => {
  const before = await tenant.events();
  const moved = (await move()).body;
  expect((await tenant.events()).slice(before.length).map(({ type, data }) => [type, data])).toEqual([
    ['location.updated', { account_id: tenant.account, aggregate_version: 2, location: moved }],
  ]);
  for (const kind of insideKinds) {
    const { get, table } = kinds[kind];
    expect((await tenant.owner.call(get, { params: { id: tree[kind].id } })).body).toEqual(tree[kind]);
    const { rows } = await service.db.query(`SELECT group_id, aggregate_version FROM ${table} WHERE id = $1`, [
      tree[kind].id,
    ]);
    expect([kind, rows]).toEqual([kind, [{ group_id: away, aggregate_version: 1 }]]);
  }
});
