import { createZone, deleteLocation, deleteZone, getZone, updateZone } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
let tenant: Tenant;
let tree: Tree;
beforeAll(async () => {
  service = await startOrganization();
});
beforeEach(async () => {
  tenant = newTenant(service);
  tree = await tenant.tree();
});
afterAll(() => service.stop());

const create = (fields: object = {}) =>
  tenant.owner.call(createZone, { body: { location_id: tree.location.id, name: 'Window', ...fields } });
const change = (body: object) => tenant.owner.call(updateZone, { params: { id: tree.zone.id }, body });
const read = async () => (await tenant.owner.call(getZone, { params: { id: tree.zone.id } })).body;

describe('create', () => {
  test('201: with only what is required it has its defaults and nothing else, and can be read back', async () => {
    const created = await create({ name: ' Window ' });
    expect(created.status).toBe(201);
    const { id, created_at } = created.body;
    expect(id).toMatch(/^zon_/);
    expect(created.body).toEqual({
      id,
      location_id: tree.location.id,
      name: 'Window',
      external_id: null,
      kind: 'other',
      created_at,
      updated_at: created_at,
    });
    expect((await tenant.owner.call(getZone, { params: { id } })).body).toEqual(created.body);
  });

  test.each(['entrance', 'aisle', 'checkout', 'window', 'other'])(
    '201: of the kind %s, with every field',
    async (kind) => {
      const fields = { name: 'Zürich 🏬', external_id: 'Z-1', kind };
      const created = await create({ ...fields, colour: 'red' });
      expect(created.body).toMatchObject(fields);
      expect(created.body).not.toHaveProperty('colour');
    },
  );

  test.each<[object, string]>([
    [{ location_id: undefined }, 'body.location_id: is required.'],
    [{ location_id: 'grp_1' }, 'body.location_id: must be a location id (loc_…), not "grp_1".'],
    [{ name: undefined }, 'body.name: is required.'],
    [{ name: null }, 'body.name: must be text, not null.'],
    [{ name: ' ' }, 'body.name: must not be empty, not " ".'],
    [{ name: 'x'.repeat(201) }, 'body.name: must have at most 200 characters.'],
    [{ name: 'a\nb' }, 'body.name: must be one line, without control characters, not "a\\nb".'],
    [{ kind: 'roof' }, 'body.kind: must be one of entrance, aisle, checkout, window, other, not "roof".'],
    [{ kind: null }, 'body.kind: must be one of entrance, aisle, checkout, window, other, not null.'],
  ])('400: %j is refused by name, and nothing is created', async (fields, detail) => {
    const before = await tenant.events();
    expect((await create(fields)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await tenant.events()).toEqual(before);
  });

  test('422: a location that is unknown or of another account is named', async () => {
    const foreign = (await newTenant(service).tree()).location.id;
    for (const location_id of [newId('location'), foreign]) {
      const detail = `body.location_id: there is no location ${location_id} in this account.`;
      expect((await create({ location_id })).problem).toMatchObject({ kind: 'unprocessable', detail });
    }
  });
});

describe('change', () => {
  test('200: what is given changes, what is left out stays, null clears', async () => {
    service.clock.advance({ seconds: 1 });
    const full = await change({ name: ' New ', kind: 'aisle', external_id: 'Z-1' });
    const { updated_at } = full.body;
    expect(full.body).toEqual({ ...tree.zone, name: 'New', kind: 'aisle', external_id: 'Z-1', updated_at });
    expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(tree.zone.updated_at));
    const cleared = await change({ external_id: null });
    expect(cleared.body).toEqual({ ...full.body, external_id: null, updated_at: cleared.body.updated_at });
    expect(await read()).toEqual(cleared.body);
  });

  test.each<[object, string]>([
    [{ id: 'zon_1' }, 'body.id: cannot be changed here, not "zon_1".'],
    [{ location_id: 'loc_1' }, 'body.location_id: cannot be changed here, not "loc_1".'],
    [{ created_at: null }, 'body.created_at: cannot be changed here, not null.'],
    [{ updated_at: null }, 'body.updated_at: cannot be changed here, not null.'],
    [{ name: null }, 'body.name: must be text, not null.'],
    [{ name: 'New', kind: 'roof' }, 'body.kind: must be one of entrance, aisle, checkout, window, other, not "roof".'],
  ])('400: %j is refused by name, and nothing changes', async (body, detail) => {
    expect((await change(body)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await read()).toEqual(tree.zone);
  });
});

describe('delete', () => {
  test('204: it does not exist any more, and deleting it again is 404', async () => {
    const params = { id: (await create()).body.id };
    expect((await tenant.owner.call(deleteZone, { params })).status).toBe(204);
    expect((await tenant.owner.call(getZone, { params })).problem?.kind).toBe('not-found');
    expect((await tenant.owner.call(deleteZone, { params })).problem?.kind).toBe('not-found');
    expect((await tenant.owner.call(updateZone, { params, body: {} })).problem?.kind).toBe('not-found');
  });

  test.each([
    ['screens', 'The zone has screens: move or delete them first.', (id: string) => tenant.screen(id)],
    ['cameras', 'The zone has cameras: move or delete them first.', (id: string) => tenant.camera(id)],
  ])('409: a zone with %s stays, and nothing is published', async (_, detail, put) => {
    const { id } = (await create()).body;
    await put(id);
    const before = await tenant.events();
    const refused = await tenant.owner.call(deleteZone, { params: { id } });
    expect(refused.problem).toMatchObject({ kind: 'conflict', detail });
    expect(await tenant.events()).toEqual(before);
  });

  test('409: a location with zones stays', async () => {
    const { id } = await tenant.location(tree.group.id);
    await tenant.zone(id);
    const refused = await tenant.owner.call(deleteLocation, { params: { id } });
    expect(refused.problem).toMatchObject({ kind: 'conflict', detail: 'The location has zones: delete them first.' });
  });
});
