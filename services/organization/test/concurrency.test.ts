import {
  createLocation,
  deleteGroup,
  deleteLocation,
  getGroup,
  getLocation,
  listLocations,
  updateGroup,
  updateLocation,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kindNames, kinds } from './kinds.ts';
import { newTenant, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const twenty = Array.from({ length: 20 }, (_, at) => at);
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort();

test.each(kindNames)(
  '204 once, then 404: of twenty deletions of one %s, one succeeds and one event is published',
  async (kind) => {
    const tenant = newTenant(service);
    const { remove, another } = kinds[kind];
    const params = { id: (await another(tenant, await tenant.tree())).id };
    const before = (await tenant.events()).length;
    const answers = await Promise.all(twenty.map(() => tenant.owner.call(remove, { params })));
    expect(statuses(answers)).toEqual([204, ...Array<number>(19).fill(404)]);
    expect((await tenant.events()).slice(before).map(({ type }) => type)).toEqual([`${kind}.deleted`]);
  },
);

test('a location is created while its group is deleted: one of the two succeeds, and no location is left without a group', async () => {
  const tenant = newTenant(service);
  const groups = await Promise.all(twenty.map(() => tenant.group()));
  await Promise.all(
    groups.map(async ({ id }, at) => {
      const create = () => tenant.owner.call(createLocation, { body: { group_id: id, name: 'New', timezone: 'UTC' } });
      const remove = () => tenant.owner.call(deleteGroup, { params: { id } });
      // Either is sent first in half of the rounds, so that both orders occur.
      const [created, removed] =
        at % 2 === 0 ? await Promise.all([create(), remove()]) : (await Promise.all([remove(), create()])).reverse();
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([created?.status, removed?.status]);
      const group = await tenant.owner.call(getGroup, { params: { id } });
      expect(group.status).toBe(created?.status === 201 ? 200 : 404);
    }),
  );
  const { rows } = await service.db.query(
    'SELECT l.id FROM locations l LEFT JOIN groups g ON g.id = l.group_id WHERE l.account_id = $1 AND g.id IS NULL',
    [tenant.account],
  );
  expect(rows).toEqual([]);
});

test('a location is moved while its new group is deleted: it moves, or stays where it was', async () => {
  const tenant = newTenant(service);
  const home = await tenant.group('Home');
  await Promise.all(
    twenty.map(async () => {
      const [group, location] = await Promise.all([tenant.group(), tenant.location(home.id)]);
      const [moved, removed] = await Promise.all([
        tenant.owner.call(updateLocation, { params: { id: location.id }, body: { group_id: group.id } }),
        tenant.owner.call(deleteGroup, { params: { id: group.id } }),
      ]);
      expect([
        [200, 409],
        [422, 204],
      ]).toContainEqual([moved.status, removed.status]);
      const { group_id } = (await tenant.owner.call(getLocation, { params: { id: location.id } })).body;
      expect(group_id).toBe(moved.status === 200 ? group.id : home.id);
    }),
  );
});

test('rights depend on where a location is now: its former admin cannot move it once it has been moved away', async () => {
  const tenant = newTenant(service);
  const [first, second, away] = await Promise.all([tenant.group(), tenant.group(), tenant.group()]);
  const admin = tenant.narrowed({ [first.id]: 'a', [second.id]: 'a' });
  await Promise.all(
    twenty.map(async () => {
      const { id } = await tenant.location(first.id);
      const [byAdmin, byOwner] = await Promise.all([
        admin.call(updateLocation, { params: { id }, body: { group_id: second.id } }),
        tenant.owner.call(updateLocation, { params: { id }, body: { group_id: away.id } }),
      ]);
      expect(byOwner.status).toBe(200);
      expect([200, 404]).toContain(byAdmin.status);
      // In either order, the owner's move is the last one that was allowed.
      expect((await tenant.owner.call(getLocation, { params: { id } })).body.group_id).toBe(away.id);
    }),
  );
});

test('changes and a deletion of one group at once: each change is made or is 404, and none fails otherwise', async () => {
  const tenant = newTenant(service);
  const params = { id: (await tenant.group()).id };
  const changes = twenty.map((at) => tenant.owner.call(updateGroup, { params, body: { name: `Name ${at}` } }));
  const [removed, ...changed] = await Promise.all([tenant.owner.call(deleteGroup, { params }), ...changes]);
  expect(removed?.status).toBe(204);
  for (const { status } of changed) expect([200, 404]).toContain(status);
  const types = (await tenant.events()).map(({ type }) => type);
  const made = changed.filter(({ status }) => status === 200).length;
  expect(types).toEqual(['group.created', ...Array<string>(made).fill('group.updated'), 'group.deleted']);
});

test('changes and a deletion of one location at once: each change is made or is 404, and none fails otherwise', async () => {
  const tenant = newTenant(service);
  const params = { id: (await tenant.location((await tenant.group()).id)).id };
  const changes = twenty.map((at) => tenant.owner.call(updateLocation, { params, body: { name: `Name ${at}` } }));
  const [removed, ...changed] = await Promise.all([tenant.owner.call(deleteLocation, { params }), ...changes]);
  expect(removed?.status).toBe(204);
  for (const { status } of changed) expect([200, 404]).toContain(status);
  expect((await tenant.events()).at(-1)?.type).toBe('location.deleted');
});

test('events of twenty changes at once are in the order of the changes: the last one has the current state', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.group();
  const answers = await Promise.all(
    twenty.map((at) => tenant.owner.call(updateGroup, { params: { id }, body: { name: `Name ${at}` } })),
  );
  expect(statuses(answers)).toEqual(twenty.map(() => 200));
  const events = (await tenant.events()).filter(({ type }) => type === 'group.updated');
  expect(events).toHaveLength(20);
  expect(events.at(-1)?.data.group).toEqual((await tenant.owner.call(getGroup, { params: { id } })).body);
});

test('twenty changes of different fields of one location at once lose none', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.location((await tenant.group()).id);
  const fields = [
    { name: 'New' },
    { timezone: 'UTC' },
    { address: 'Street' },
    { latitude: 1, longitude: 2 },
    { external_id: 'CH-1' },
    { venue_type: 'entertainment.bars' },
    { status: 'inactive' },
  ] as const;
  const answers = await Promise.all(
    twenty.map((at) => tenant.owner.call(updateLocation, { params: { id }, body: fields[at % fields.length] ?? {} })),
  );
  expect(statuses(answers)).toEqual(twenty.map(() => 200));
  expect((await tenant.owner.call(listLocations)).body.entries[0]).toMatchObject(
    Object.assign({}, ...fields) as object,
  );
});
