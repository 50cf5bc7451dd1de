import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bodyIn, type KindName, kindNames, kinds } from './kinds.ts';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const twenty = Array.from({ length: 20 }, (_, at) => at);

const create = (tenant: Tenant, kind: KindName, tree: Tree, external_id: unknown) =>
  tenant.owner.call(kinds[kind].create, { body: { ...bodyIn(kind, tree), external_id } as never });

describe.each(kindNames)('the external id of a %s', (kind) => {
  const { get, update } = kinds[kind];

  test('409: is unique in the account, on creation and on change; another account may use it', async () => {
    const tenant = newTenant(service);
    const tree = await tenant.tree();
    const first = (await create(tenant, kind, tree, 'X-1')).body;
    const refused = { kind: 'conflict', detail: `body.external_id: is used by another ${kind}.` };
    expect((await create(tenant, kind, tree, 'X-1')).problem).toMatchObject(refused);
    const change = (id: string, external_id: string | null) =>
      tenant.owner.call(update, { params: { id }, body: { external_id } });
    expect((await change(tree[kind].id, 'X-1')).problem).toMatchObject(refused);
    expect((await tenant.owner.call(get, { params: { id: tree[kind].id } })).body).toEqual(tree[kind]);
    // A thing keeps its own; one that is given up is free.
    expect((await change(first.id, 'X-1')).body.external_id).toBe('X-1');
    await change(first.id, null);
    expect((await change(tree[kind].id, 'X-1')).body.external_id).toBe('X-1');
    const other = newTenant(service);
    expect((await create(other, kind, await other.tree(), 'X-1')).status).toBe(201);
  });

  test('201 once: of twenty creations with the same one at once, one succeeds and the others are 409', async () => {
    const tenant = newTenant(service);
    const tree = await tenant.tree();
    const answers = await Promise.all(twenty.map(() => create(tenant, kind, tree, 'X-1')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
  });

  test('is case-sensitive and trimmed, and any number of things may have none', async () => {
    const tenant = newTenant(service);
    const tree = await tenant.tree();
    expect((await create(tenant, kind, tree, ' x-1 ')).body.external_id).toBe('x-1');
    expect((await create(tenant, kind, tree, 'X-1')).body.external_id).toBe('X-1');
    for (const none of [null, undefined]) {
      expect((await create(tenant, kind, tree, none)).body.external_id).toBeNull();
    }
  });

  test.each<[unknown, string]>([
    ['', 'must not be empty, not "".'],
    [' ', 'must not be empty, not " ".'],
    [7, 'must be text, not 7.'],
    ['x'.repeat(201), 'must have at most 200 characters.'],
    ['a\tb', 'must be one line, without control characters, not "a\\tb".'],
    [
      'scr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      'must not look like an id of the platform, not "scr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f".',
    ],
  ])('400: %j is refused', async (external_id, detail) => {
    const tenant = newTenant(service);
    const tree = await tenant.tree();
    const refused = { kind: 'validation-error', detail: `body.external_id: ${detail}` };
    expect((await create(tenant, kind, tree, external_id)).problem).toMatchObject(refused);
    const body = { external_id } as object;
    expect((await tenant.owner.call(update, { params: { id: tree[kind].id }, body })).problem).toMatchObject(refused);
  });
});

test('things of different kinds may have the same external id', async () => {
  const tenant = newTenant(service);
  const tree = await tenant.tree();
  for (const kind of kindNames) expect([kind, (await create(tenant, kind, tree, 'X-1')).status]).toEqual([kind, 201]);
});
