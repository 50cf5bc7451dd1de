import { createGroup, listGroups } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fill, kindNames, kinds } from './kinds.ts';
import { newTenant, startOrganization, type Tenant } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

type Query = Record<string, string | number | undefined>;

/** All lists of the area follow the same rules. */
describe.each(kindNames)('the list of every %s', (kind) => {
  const { list: endpoint, remove } = kinds[kind];
  const other = kind === 'group' ? 'location' : 'group';
  const fillList = (tenant: Tenant, count: number) => fill(service, tenant, kind, count);
  const read = async (tenant: Tenant, query: Query = {}) => {
    const { body } = await tenant.owner.call(endpoint, { query });
    return { ids: body.entries.map(({ id }) => id), next: body.next_cursor };
  };

  test('200: is empty, with no next page, for a new account', async () => {
    expect(await read(newTenant(service))).toEqual({ ids: [], next: null });
  });

  test('200: has 50 rows without a limit and 200 at most, oldest first, each row once', async () => {
    const tenant = newTenant(service);
    const ids = await fillList(tenant, 201);
    expect((await read(tenant)).ids).toEqual(ids.slice(0, 50));
    const first = await read(tenant, { limit: 200 });
    expect(first.ids).toEqual(ids.slice(0, 200));
    const last = await read(tenant, { limit: 200, cursor: first.next ?? '' });
    expect(last).toEqual({ ids: ids.slice(200), next: null });
  });

  test('200: a page that is exactly full and last has no next page', async () => {
    const tenant = newTenant(service);
    const ids = await fillList(tenant, 4);
    expect(await read(tenant, { limit: 4 })).toEqual({ ids, next: null });
    const first = await read(tenant, { limit: 2 });
    expect(await read(tenant, { limit: 2, cursor: first.next ?? '' })).toEqual({ ids: ids.slice(2), next: null });
  });

  test('200: the limit may change from page to page', async () => {
    const tenant = newTenant(service);
    const ids = await fillList(tenant, 5);
    const first = await read(tenant, { limit: 1 });
    expect(await read(tenant, { limit: 4, cursor: first.next ?? '' })).toEqual({ ids: ids.slice(1), next: null });
  });

  test('200: rows that are created and deleted between two pages make no other row appear twice or go missing', async () => {
    const tenant = newTenant(service);
    const ids = await fillList(tenant, 4);
    const first = await read(tenant, { limit: 2 });
    // The row that the cursor points at is deleted; another is created.
    await tenant.owner.call(remove, { params: { id: ids[1] ?? '' } });
    const added = await fillList(tenant, 1);
    const second = await read(tenant, { limit: 2, cursor: first.next ?? '' });
    expect(second.ids).toEqual(ids.slice(2));
    expect(await read(tenant, { limit: 2, cursor: second.next ?? '' })).toEqual({ ids: added, next: null });
  });

  test.each([
    ['0', 'must be at least 1, not 0'],
    ['201', 'must be at most 200, not 201'],
    ['-1', 'must be a whole number from 1 to 200, not "-1"'],
    ['1.5', 'must be a whole number from 1 to 200, not "1.5"'],
    ['ten', 'must be a whole number from 1 to 200, not "ten"'],
    ['', 'must be a whole number from 1 to 200, not ""'],
  ])('400: a limit of %p is named', async (limit, what) => {
    const answer = await newTenant(service).owner.call(endpoint, { query: { limit } });
    expect(answer.problem).toMatchObject({ kind: 'validation-error', detail: `query.limit: ${what}.` });
  });

  test('400: a cursor that is garbage, of another filter or another list, or with a value of another type is refused', async () => {
    const tenant = newTenant(service);
    await fillList(tenant, 2);
    const good = (await read(tenant, { limit: 1 })).next ?? '';
    const elsewhere = newTenant(service);
    await fill(service, elsewhere, other, 2);
    const ofOther = (await elsewhere.owner.call(kinds[other].list, { query: { limit: 1 } })).body.next_cursor ?? '';
    const filtered = (await read(tenant, { limit: 1, query: 'row' })).next ?? '';
    const [scope] = JSON.parse(Buffer.from(good, 'base64url').toString()) as [string];
    const forge = (...content: unknown[]) => Buffer.from(JSON.stringify(content)).toString('base64url');
    const bad = [
      'x',
      '%%%',
      good.slice(1),
      ofOther,
      filtered,
      forge(),
      forge(scope),
      forge(scope, 5),
      forge(scope, null),
    ];
    bad.push(
      forge(scope, ['x']),
      forge(scope, { gt: '' }),
      forge(scope, 'a', 'b'),
      forge(scope, 'a\0'),
      Buffer.from('null').toString('base64url'),
    );
    for (const cursor of bad) {
      const answer = await tenant.owner.call(endpoint, { query: { limit: 1, cursor } });
      const detail = 'query.cursor: is not a next_cursor of this list with these filters.';
      expect([cursor, answer.problem]).toEqual([cursor, expect.objectContaining({ kind: 'validation-error', detail })]);
    }
    const empty = await tenant.owner.call(endpoint, { query: { cursor: '' } });
    expect(empty.problem?.detail).toBe('query.cursor: must be the next_cursor of the page before, not "".');
    expect((await read(tenant, { limit: 1, query: 'row', cursor: filtered })).ids).toHaveLength(1);
  });

  test('a cursor of another account shows nothing of that account', async () => {
    const other = newTenant(service);
    await fillList(other, 3);
    const { next } = await read(other, { limit: 1 });
    const tenant = newTenant(service);
    const ids = await fillList(tenant, 2);
    expect((await read(tenant, { cursor: next ?? '' })).ids.every((id) => ids.includes(id))).toBe(true);
  });
});

test('each list shows a thing as its own endpoint does', async () => {
  const tenant = newTenant(service);
  const tree = await tenant.tree();
  for (const kind of kindNames) {
    const { list, get } = kinds[kind];
    const alone = await tenant.owner.call(get, { params: { id: tree[kind].id } });
    expect([kind, alone.body]).toEqual([kind, tree[kind]]);
    expect([kind, (await tenant.owner.call(list)).body]).toEqual([kind, { entries: [tree[kind]], next_cursor: null }]);
  }
});

test('the list of groups shows each group as its own endpoint does', async () => {
  const { owner, group } = newTenant(service);
  const made = [await group('First'), await group('Second')];
  const second = await owner.call(createGroup, { body: { name: 'Third', description: 'Text' } });
  expect((await owner.call(listGroups)).body).toEqual({ entries: [...made, second.body], next_cursor: null });
});
