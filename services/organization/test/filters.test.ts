import { listGroups, listLocations } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

describe('query', () => {
  const names = ['100% Zürich', 'under_score', 'back\\slash', 'Plain SHOP', "O'Hara; --", 'École'];
  let tenant: ReturnType<typeof newTenant>;
  beforeAll(async () => {
    tenant = newTenant(service);
    const home = (await tenant.group('home')).id;
    for (const name of names) {
      await tenant.group(name);
      await tenant.location(home, { name });
    }
  });

  test.each<[string, string[]]>([
    ['shop', ['Plain SHOP']],
    ['PLAIN sh', ['Plain SHOP']],
    ['ÉCOLE', ['École']],
    ['%', ['100% Zürich']],
    ['0% z', ['100% Zürich']],
    ['_', ['under_score']],
    ['under?score', []],
    ['\\', ['back\\slash']],
    ['\\\\', []],
    ['\\%', []],
    ['under_s', ['under_score']],
    ['p_ain', []],
    ["o'hara; --", ["O'Hara; --"]],
    [' ', ['100% Zürich', 'Plain SHOP', "O'Hara; --"]],
    ['nothing', []],
  ])('%p matches names that contain it literally, in any letter case', async (query, found) => {
    const [groups, locations] = await Promise.all([
      tenant.owner.call(listGroups, { query: { query } }),
      tenant.owner.call(listLocations, { query: { query } }),
    ]);
    expect(groups.body.entries.map(({ name }) => name)).toEqual(found);
    expect(locations.body.entries.map(({ name }) => name)).toEqual(found);
  });

  test('400: an empty or an over-long one is refused', async () => {
    for (const [query, detail] of [
      ['', /^query\.query: must not be empty/],
      ['x'.repeat(201), /^query\.query: must have at most 200 characters/],
    ] as const) {
      for (const list of [listGroups, listLocations]) {
        const answer = await tenant.owner.call(list, { query: { query } });
        expect(answer.problem).toMatchObject({ kind: 'validation-error', detail: expect.stringMatching(detail) });
      }
    }
  });

  test('the filter applies to every page', async () => {
    const first = await tenant.owner.call(listLocations, { query: { query: ' ', limit: 2 } });
    const cursor = first.body.next_cursor ?? '';
    const second = await tenant.owner.call(listLocations, { query: { query: ' ', limit: 2, cursor } });
    expect(second.body.entries.map(({ name }) => name)).toEqual(["O'Hara; --"]);
    expect(second.body.next_cursor).toBeNull();
  });
});

describe('group_ids', () => {
  test('200: several are separated by commas, and combine with query', async () => {
    const tenant = newTenant(service);
    const groups = [(await tenant.group()).id, (await tenant.group()).id, (await tenant.group()).id] as const;
    const locations = await Promise.all(groups.map((group, at) => tenant.location(group, { name: `Shop ${at}` })));
    const found = async (query: Record<string, string>) => {
      const { entries } = (await tenant.owner.call(listLocations, { query })).body;
      return entries.map(({ name }) => name).sort();
    };
    expect(await found({ group_ids: groups[0] })).toEqual(['Shop 0']);
    expect(await found({ group_ids: `${groups[2]},${groups[0]},${groups[2]}` })).toEqual(['Shop 0', 'Shop 2']);
    expect(await found({ group_ids: `${groups[2]},${groups[0]}`, query: 'shop 2' })).toEqual(['Shop 2']);
    expect(await found({ group_ids: newId('group') })).toEqual([]);
    expect(
      await found({ group_ids: [groups[1], ...Array.from({ length: 99 }, () => newId('group'))].join(',') }),
    ).toEqual(['Shop 1']);
    expect(locations).toHaveLength(3);
  });

  test.each<[string, string]>([
    ['grp_1', 'query.group_ids[0]: must be a group id (grp_…), not "grp_1".'],
    [`grp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f,loc_1`, 'query.group_ids[1]: must be a group id (grp_…), not "loc_1".'],
    ['', 'query.group_ids[0]: must be a group id (grp_…), not "".'],
    ['grp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f,', 'query.group_ids[1]: must be a group id (grp_…), not "".'],
    [
      Array.from({ length: 101 }, () => 'grp_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f').join(','),
      'query.group_ids: must have at most 100 values.',
    ],
  ])('400: %p is refused by name', async (group_ids, detail) => {
    const answer = await newTenant(service).owner.call(listLocations, { query: { group_ids } });
    expect(answer.problem).toMatchObject({ kind: 'validation-error', detail });
  });

  test('400: a repeated parameter is refused by name', async () => {
    const group = newId('group');
    for (const [path, name] of [
      [`/v2/locations?group_ids=${group}&group_ids=${group}`, 'group_ids'],
      ['/v2/locations?query=a&query=b', 'query'],
      ['/v2/groups?limit=1&limit=1', 'limit'],
    ]) {
      const answer = await sendRaw(service, 'GET', path ?? '', personToken());
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject({
        detail: `query.${name}: is given more than once; join values with commas.`,
      });
    }
  });

  test('200: an unknown parameter is ignored', async () => {
    const tenant = newTenant(service);
    await tenant.group();
    expect((await tenant.owner.call(listGroups, { query: { colour: 'red' } })).body.entries).toHaveLength(1);
  });
});
