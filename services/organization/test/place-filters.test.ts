import { listInstallations, listScreens, matchScreens } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { insideKinds, kinds } from './kinds.ts';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
let tenant: Tenant;
let trees: readonly [Tree, Tree, Tree];
beforeAll(async () => {
  service = await startOrganization();
  tenant = newTenant(service);
  trees = [await tenant.tree(), await tenant.tree(), await tenant.tree()];
});
afterAll(() => service.stop());

/** The filters of each list, besides `group_ids`, which all lists have. */
const filters = {
  zone: { location_ids: 'location' },
  screen: { location_ids: 'location', zone_ids: 'zone' },
  installation: { location_ids: 'location', screen_ids: 'screen' },
  camera: { location_ids: 'location', zone_ids: 'zone' },
} as const;

const cases = insideKinds.flatMap((kind) =>
  Object.entries({ group_ids: 'group' as const, ...filters[kind] }).map(
    ([name, by]) => [kind, name, by as keyof Tree] as const,
  ),
);

describe.each(cases)('the list of every %s, by %s', (kind, name, by) => {
  const { list } = kinds[kind];
  const found = async (query: Record<string, string>) =>
    (await tenant.owner.call(list, { query })).body.entries.map(({ id }) => id);

  test('200: has what is in one place or in several, oldest first, each once', async () => {
    const [first, second, third] = trees;
    expect(await found({ [name]: second[by].id })).toEqual([second[kind].id]);
    const several = [third[by].id, first[by].id, third[by].id].join(',');
    expect(await found({ [name]: several })).toEqual([first[kind].id, third[kind].id]);
  });

  test('200: is empty for unknown ones, and combines with the filter by group', async () => {
    expect(await found({ [name]: newId(by) })).toEqual([]);
    const beside = { [name]: trees[0][by].id, group_ids: trees[1].group.id };
    expect(await found(beside)).toEqual(name === 'group_ids' ? [trees[1][kind].id] : []);
  });

  test('200: the filter applies to every page', async () => {
    const query = { [name]: trees.map((tree) => tree[by].id).join(','), limit: 2 };
    const first = (await tenant.owner.call(list, { query })).body;
    const second = await tenant.owner.call(list, { query: { ...query, cursor: first.next_cursor ?? '' } });
    expect(first.entries.map(({ id }) => id)).toEqual([trees[0][kind].id, trees[1][kind].id]);
    expect(second.body).toMatchObject({ entries: [{ id: trees[2][kind].id }], next_cursor: null });
  });

  test.each(['x_1', '', ','])('400: %j is refused by name', async (value) => {
    const answer = await tenant.owner.call(list, { query: { [name]: value } });
    expect(answer.problem).toMatchObject({
      kind: 'validation-error',
      detail: expect.stringContaining(`query.${name}[0]: must be a`),
    });
  });

  test('400: more than a hundred values are refused by name', async () => {
    const value = Array.from({ length: 101 }, () => newId(by)).join(',');
    const answer = await tenant.owner.call(list, { query: { [name]: value } });
    expect(answer.problem?.detail).toBe(`query.${name}: must have at most 100 values.`);
  });
});

test.each(insideKinds)('the list of every %s finds a part of the name, in any letter case', async (kind) => {
  const own = newTenant(service);
  const tree = await own.tree();
  const { update, list, another } = kinds[kind];
  await another(own, tree);
  await own.owner.call(update, { params: { id: tree[kind].id }, body: { name: '100% Zürich' } });
  for (const [query, count] of [
    ['% zÜR', 1],
    ['_', 0],
  ] as const) {
    expect((await own.owner.call(list, { query: { query } })).body.entries).toHaveLength(count);
  }
});

describe('installations', () => {
  const found = async (query: Record<string, string>) =>
    (await tenant.owner.call(listInstallations, { query })).body.entries.map(({ id }) => id);

  test('200: by device and by status', async () => {
    const [first, second] = trees;
    const { device_id } = first.installation;
    const removed = await tenant.installation(second.location.id, { device_id, status: 'removed' });
    expect(await found({ device_ids: device_id })).toEqual([first.installation.id, removed.id]);
    expect(await found({ device_ids: device_id, status: 'live' })).toEqual([first.installation.id]);
    expect(await found({ device_ids: device_id, status: 'removed' })).toEqual([removed.id]);
    expect(await found({ device_ids: `${newId('device')},${second.installation.device_id}` })).toEqual([
      second.installation.id,
    ]);
    expect(await found({ device_ids: device_id, location_ids: second.location.id })).toEqual([removed.id]);
    expect(await found({ device_ids: newId('device') })).toEqual([]);
  });

  test('400: an unknown status is refused by name', async () => {
    const answer = await tenant.owner.call(listInstallations, { query: { status: 'dead' } });
    expect(answer.problem?.detail).toBe('query.status: must be one of live, removed, not "dead".');
  });
});

describe('tags', () => {
  let own: Tenant;
  let tree: Tree;
  let ids: Record<'a' | 'ab' | 'b', string>;
  beforeAll(async () => {
    own = newTenant(service);
    tree = await own.tree();
    const tagged = async (tags: string[], zone = tree.zone.id) => (await own.screen(zone, { tags })).id;
    const away = await own.tree();
    ids = { a: await tagged(['a']), ab: await tagged(['a', 'b 1']), b: await tagged(['b 1'], away.zone.id) };
  });

  test.each<[string, ('a' | 'ab' | 'b')[]]>([
    ['a', ['a', 'ab']],
    ['B 1', ['ab', 'b']],
    ['a,b-1', ['a', 'ab', 'b']],
    ['b-1,A,a', ['a', 'ab', 'b']],
    ['unknown', []],
  ])('%j: the list and a match have the screens with any of them', async (tags, names) => {
    const query = { tags };
    const expected = names.map((name) => ids[name]);
    const listed = (await own.owner.call(listScreens, { query })).body;
    const matched = (await own.owner.call(matchScreens, { query })).body;
    expect(listed.entries.map(({ id }) => id)).toEqual(expected);
    expect(matched.entries).toEqual(listed.entries);
    expect(matched.total).toBe(expected.length);
  });

  test('combine with the other filters, and a match counts all pages by group', async () => {
    const here = { tags: 'b-1', location_ids: tree.location.id };
    expect((await own.owner.call(listScreens, { query: here })).body.entries.map(({ id }) => id)).toEqual([ids.ab]);
    const first = (await own.owner.call(matchScreens, { query: { tags: 'a,b-1', limit: 1 } })).body;
    expect(first).toMatchObject({ total: 3, entries: [{ id: ids.a }] });
    expect(first.groups.map(({ screen_count }) => screen_count)).toEqual([2, 1]);
    const query = { tags: 'a,b-1', limit: 2, cursor: first.next_cursor ?? '' };
    expect((await own.owner.call(matchScreens, { query })).body).toMatchObject({
      total: 3,
      entries: [{ id: ids.ab }, { id: ids.b }],
      next_cursor: null,
    });
  });

  test.each<[string, string]>([
    ['%', 'query.tags[0]: must have letters, digits and - _ . : only, not "%".'],
    ['a,', 'query.tags[1]: must not be empty, not "".'],
    [Array.from({ length: 51 }, (_, at) => `t${at}`).join(','), 'query.tags: must have at most 50 values.'],
  ])('400: %j are refused by name, in the list and in a match', async (tags, detail) => {
    for (const endpoint of [listScreens, matchScreens])
      expect((await own.owner.call(endpoint, { query: { tags } })).problem).toMatchObject({
        kind: 'validation-error',
        detail,
      });
  });

  test('400: a match refuses a cursor of the list', async () => {
    const listed = (await own.owner.call(listScreens, { query: { limit: 1 } })).body;
    const answer = await own.owner.call(matchScreens, { query: { cursor: listed.next_cursor ?? '' } });
    expect(answer.problem?.detail).toBe('query.cursor: is not a next_cursor of this list with these filters.');
  });

  test('200: a match in an account without screens is empty', async () => {
    expect((await newTenant(service).owner.call(matchScreens)).body).toEqual({
      total: 0,
      groups: [],
      entries: [],
      next_cursor: null,
    });
  });
});
