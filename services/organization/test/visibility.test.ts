import { deleteGroup, getGroup, getLocation, listGroups, listLocations, updateGroup } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startOrganization } from './support.ts';

let service: TestService;
let tenant: ReturnType<typeof newTenant>;
/** Two groups, each with a location. */
let mine: { group: string; location: string };
let theirs: { group: string; location: string };
beforeAll(async () => {
  service = await startOrganization();
  tenant = newTenant(service);
  const estate = async () => {
    const group = (await tenant.group()).id;
    return { group, location: (await tenant.location(group)).id };
  };
  mine = await estate();
  theirs = await estate();
});
afterAll(() => service.stop());

type Caller = ReturnType<typeof newTenant>['owner'];

async function seenBy(caller: Caller) {
  const [groups, locations] = await Promise.all([caller.call(listGroups), caller.call(listLocations)]);
  return [groups.body.entries.map(({ id }) => id), locations.body.entries.map(({ id }) => id)];
}

const all = () => [
  [mine.group, theirs.group],
  [mine.location, theirs.location],
];
const onlyMine = () => [[mine.group], [mine.location]];

describe('a caller whose claims are narrowed', () => {
  test.each(['a', 'm'])('sees its groups with role %s, their locations, and nothing else', async (letter) => {
    const caller = tenant.narrowed({ [mine.group]: letter });
    expect(await seenBy(caller)).toEqual(onlyMine());
    expect((await caller.call(getGroup, { params: { id: mine.group } })).status).toBe(200);
    expect((await caller.call(getLocation, { params: { id: mine.location } })).status).toBe(200);
    expect((await caller.call(getGroup, { params: { id: theirs.group } })).problem?.kind).toBe('not-found');
    expect((await caller.call(getLocation, { params: { id: theirs.location } })).problem?.kind).toBe('not-found');
  });

  test('is narrowed as a key too, and by its groups alone', async () => {
    expect(await seenBy(tenant.key({ group_scope: 'selected', groups: { [mine.group]: 'm' } }))).toEqual(onlyMine());
    expect(await seenBy(tenant.as({ groups: { [mine.group]: 'm' } }))).toEqual(onlyMine());
  });

  test('finds nothing more by filters', async () => {
    const caller = tenant.narrowed({ [mine.group]: 'a' });
    const both = await caller.call(listLocations, { query: { group_ids: `${mine.group},${theirs.group}` } });
    expect(both.body.entries.map(({ id }) => id)).toEqual([mine.location]);
    const other = await caller.call(listLocations, { query: { group_ids: theirs.group } });
    expect(other.body).toEqual({ entries: [], next_cursor: null });
    const named = await caller.call(listGroups, { query: { query: 'group' } });
    expect(named.body.entries.map(({ id }) => id)).toEqual([mine.group]);
  });

  test('sees nothing of a group of another account that its claims name', async () => {
    const stranger = newTenant(service);
    expect(await seenBy(stranger.narrowed({ [mine.group]: 'a' }))).toEqual([[], []]);
    const caller = stranger.as({ role: 'admin', groups: { [mine.group]: 'a' } });
    expect((await caller.call(deleteGroup, { params: { id: mine.group } })).problem?.kind).toBe('not-found');
  });
});

test.each<[string, () => object]>([
  ['neither claim', () => ({})],
  ['group_scope all alone', () => ({ group_scope: 'all' })],
])('a caller with %s sees the whole account', async (_, claims) => {
  expect(await seenBy(tenant.as(claims()))).toEqual(all());
});

test.each<[string, () => object]>([
  ['selected without groups', () => ({ group_scope: 'selected' })],
  ['selected and no group', () => ({ group_scope: 'selected', groups: {} })],
  ['all and an empty map of groups', () => ({ group_scope: 'all', groups: {} })],
  ['an unknown scope', () => ({ group_scope: 'some' })],
  ['a scope of null', () => ({ group_scope: null })],
  ['groups of null', () => ({ groups: null })],
  ['groups as a list', () => ({ groups: [mine.group] })],
  ['groups as a text', () => ({ groups: mine.group })],
  ['an unknown letter', () => ({ group_scope: 'selected', groups: { [mine.group]: 'x' } })],
  ['a letter in upper case', () => ({ group_scope: 'selected', groups: { [mine.group]: 'A' } })],
  ['a letter that is true', () => ({ group_scope: 'selected', groups: { [mine.group]: true } })],
  ['a star for all groups', () => ({ group_scope: 'selected', groups: { '*': 'a' } })],
])('claims that cannot be read grant nothing, not even to an owner: %s', async (_, claims) => {
  const caller = tenant.as(claims());
  expect(await seenBy(caller)).toEqual([[], []]);
  expect((await caller.call(getGroup, { params: { id: mine.group } })).problem?.kind).toBe('not-found');
  expect((await caller.call(getLocation, { params: { id: mine.location } })).problem?.kind).toBe('not-found');
});

test('an unreadable grant does not affect a valid one beside it', async () => {
  expect(await seenBy(tenant.narrowed({ [mine.group]: 'm', [theirs.group]: 'x' }))).toEqual(onlyMine());
});

test('404: reading, changing or deleting a hidden thing gets the response for one that does not exist, byte for byte', async () => {
  const claims = { account: tenant.account, group_scope: 'selected', groups: { [mine.group]: 'a' } };
  const person = personToken({ ...claims, role: 'admin' });
  const key = keyToken(claims);
  const compare = async (method: string, area: string, ids: string[], token: string, body?: string) => {
    const answers = await Promise.all(ids.map((id) => sendRaw(service, method, `/v2/${area}/${id}`, token, body)));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 404));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  };
  for (const [area, ids] of [
    ['groups', [newId('group'), theirs.group, 'x']],
    ['locations', [newId('location'), theirs.location, 'x']],
  ] as const) {
    await compare('GET', area, [...ids], person);
    await compare('GET', area, [...ids], key);
    await compare('PATCH', area, [...ids], person, '{"name":"Mine now"}');
    await compare('DELETE', area, [...ids], person);
  }
  expect(await seenBy(tenant.owner)).toEqual(all());
  expect((await tenant.owner.call(getLocation, { params: { id: theirs.location } })).body.name).toBe('A location');
});

test('200: a narrowed admin changes a group that it administers', async () => {
  const admin = tenant.as({ role: 'admin', group_scope: 'selected', groups: { [mine.group]: 'a' } });
  const changed = await admin.call(updateGroup, { params: { id: mine.group }, body: { description: 'Held' } });
  expect(changed.body.description).toBe('Held');
});
