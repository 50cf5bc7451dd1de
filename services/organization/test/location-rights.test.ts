import { createLocation, deleteLocation, getLocation, listLocations, updateLocation } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

let tenant: ReturnType<typeof newTenant>;
let here: string;
let there: string;
let location: Awaited<ReturnType<ReturnType<typeof newTenant>['location']>>;
beforeEach(async () => {
  tenant = newTenant(service);
  here = (await tenant.group('Here')).id;
  there = (await tenant.group('There')).id;
  location = await tenant.location(here);
});

type Caller = ReturnType<typeof newTenant>['owner'];
const refusal = {
  kind: 'forbidden',
  detail: 'Only an owner, an admin or an admin of the group sets up what is in it.',
};

const create = (caller: Caller, group_id: string) =>
  caller.call(createLocation, { body: { group_id, name: 'New', timezone: 'UTC' } });
const rename = (caller: Caller) =>
  caller.call(updateLocation, { params: { id: location.id }, body: { name: 'Renamed' } });
const move = (caller: Caller, group_id: string) =>
  caller.call(updateLocation, { params: { id: location.id }, body: { group_id } });
const remove = (caller: Caller) => caller.call(deleteLocation, { params: { id: location.id } });

async function expectUnchanged() {
  const { entries } = (await tenant.owner.call(listLocations)).body;
  expect(entries).toEqual([location]);
}

test.each<[string, () => Caller]>([
  ['an owner', () => tenant.owner],
  ['an admin', () => tenant.as({ role: 'admin' })],
  ['an admin of the group', () => tenant.narrowed({ [here]: 'a' })],
])('%s creates, changes and deletes locations of the group', async (_, caller) => {
  expect((await create(caller(), here)).status).toBe(201);
  expect((await rename(caller())).body.name).toBe('Renamed');
  expect((await remove(caller())).status).toBe(204);
});

test.each<[string, () => Caller]>([
  ['a member of the group', () => tenant.narrowed({ [here]: 'm' })],
  ['a member of the whole account', () => tenant.as({ role: 'member' })],
  ['a member with group_scope all', () => tenant.as({ role: 'member', group_scope: 'all' })],
  ['an admin whose claims hold the group as m', () => tenant.as({ role: 'admin', groups: { [here]: 'm' } })],
  ['an admin of another group who is a member of this one', () => tenant.narrowed({ [here]: 'm', [there]: 'a' })],
])('403: %s sets up no location there, and nothing changes', async (_, caller) => {
  for (const answer of [await create(caller(), here), await rename(caller()), await remove(caller())]) {
    expect(answer.problem).toMatchObject(refusal);
  }
  expect((await caller().call(getLocation, { params: { id: location.id } })).body).toEqual(location);
  await expectUnchanged();
});

test('403: no key sets up a location, whatever its role and grants', async () => {
  const writing = { role: 'admin', key: { type: 'api', readonly: false } } as const;
  for (const key of [tenant.key(writing), tenant.key({ ...writing, groups: { [here]: 'a' } })]) {
    for (const answer of [await create(key, here), await rename(key), await remove(key)]) {
      expect(answer.problem).toMatchObject({
        kind: 'forbidden',
        detail: 'An API key cannot be used here: sign in as a person.',
      });
    }
  }
  await expectUnchanged();
});

test('an admin of one group has no rights in another: 422 for creating there, 404 for what exists there, and nothing changes', async () => {
  const caller = tenant.narrowed({ [there]: 'a' });
  const created = await create(caller, here);
  expect(created.problem).toMatchObject({
    kind: 'unprocessable',
    detail: `body.group_id: there is no group ${here} in this account.`,
  });
  const unknown = newId('group');
  const detail = (await create(caller, unknown)).problem?.detail;
  expect(detail?.replace(unknown, here)).toBe(created.problem?.detail);
  expect((await rename(caller)).problem?.kind).toBe('not-found');
  expect((await move(caller, there)).problem?.kind).toBe('not-found');
  expect((await remove(caller)).problem?.kind).toBe('not-found');
  await expectUnchanged();
});

describe('a move', () => {
  test('200: needs rights in both groups', async () => {
    const moved = await move(tenant.narrowed({ [here]: 'a', [there]: 'a' }), there);
    expect(moved.status).toBe(200);
    expect(moved.body).toEqual({ ...location, group_id: there, updated_at: moved.body.updated_at });
  });

  test.each<[string, () => Caller]>([
    ['in the new group', () => tenant.narrowed({ [here]: 'a', [there]: 'm' })],
    ['in the old group', () => tenant.narrowed({ [here]: 'm', [there]: 'a' })],
  ])('403: without the right %s nothing moves', async (_, caller) => {
    expect((await move(caller(), there)).problem).toMatchObject(refusal);
    await expectUnchanged();
  });

  test('422: to a group that the caller does not see, with the response for one that does not exist', async () => {
    const caller = tenant.narrowed({ [here]: 'a' });
    for (const group of [there, newId('group')]) {
      const detail = `body.group_id: there is no group ${group} in this account.`;
      expect((await move(caller, group)).problem).toMatchObject({ kind: 'unprocessable', detail });
    }
    await expectUnchanged();
  });

  test('200: to its current group changes nothing else', async () => {
    const same = await move(tenant.narrowed({ [here]: 'a' }), here);
    expect(same.body).toEqual({ ...location, updated_at: same.body.updated_at });
  });

  test('immediately changes who sees the location', async () => {
    const caller = tenant.narrowed({ [here]: 'a' });
    expect((await caller.call(getLocation, { params: { id: location.id } })).status).toBe(200);
    await move(tenant.owner, there);
    expect((await caller.call(getLocation, { params: { id: location.id } })).problem?.kind).toBe('not-found');
    expect((await tenant.narrowed({ [there]: 'm' }).call(getLocation, { params: { id: location.id } })).status).toBe(
      200,
    );
  });
});
