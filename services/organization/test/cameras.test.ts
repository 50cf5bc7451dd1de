import { createCamera, deleteCamera, getCamera, updateCamera } from '@attribution/contracts';
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
  tenant.owner.call(createCamera, {
    body: { zone_id: tree.zone.id, device_id: newId('device'), name: 'Door', ...fields },
  });
const change = (body: object, id = tree.camera.id) => tenant.owner.call(updateCamera, { params: { id }, body });
const read = async (id = tree.camera.id) => (await tenant.owner.call(getCamera, { params: { id } })).body;

/** Values that both creating and changing refuse. */
const badValues: [object, string][] = [
  [{ zone_id: 'loc_1' }, 'body.zone_id: must be a zone id (zon_…), not "loc_1".'],
  [{ zone_id: null }, 'body.zone_id: must be text, not null.'],
  [{ device_id: 'cam_1' }, 'body.device_id: must be a device id (dev_…), not "cam_1".'],
  [{ device_id: null }, 'body.device_id: must be text, not null.'],
  [{ name: ' ' }, 'body.name: must not be empty, not " ".'],
  [{ name: null }, 'body.name: must be text, not null.'],
  [{ name: 'x'.repeat(201) }, 'body.name: must have at most 200 characters.'],
];

describe('create', () => {
  test('201: with only what is required it has its defaults and nothing else, and can be read back', async () => {
    const device_id = newId('device');
    const created = await create({ device_id, colour: 'red' });
    expect(created.status).toBe(201);
    const { id, created_at } = created.body;
    expect(id).toMatch(/^cam_/);
    expect(created.body).toEqual({
      id,
      location_id: tree.location.id,
      zone_id: tree.zone.id,
      device_id,
      name: 'Door',
      external_id: null,
      created_at,
      updated_at: created_at,
    });
    expect(await read(id)).toEqual(created.body);
  });

  test('201: a device may have several cameras, and be installed besides', async () => {
    const { device_id } = tree.installation;
    expect((await create({ device_id })).status).toBe(201);
    expect((await create({ device_id, external_id: 'C-1' })).body).toMatchObject({ device_id, external_id: 'C-1' });
  });

  test.each([
    ...badValues,
    [{ zone_id: undefined }, 'body.zone_id: is required.'] as const,
    [{ device_id: undefined }, 'body.device_id: is required.'] as const,
    [{ name: undefined }, 'body.name: is required.'] as const,
  ])('400: %j is refused by name, and nothing is created', async (fields, detail) => {
    const before = await tenant.events();
    expect((await create(fields)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await tenant.events()).toEqual(before);
  });

  test('422: a zone that is unknown or of another account is named', async () => {
    const foreign = (await newTenant(service).tree()).zone.id;
    for (const zone_id of [newId('zone'), foreign]) {
      const detail = `body.zone_id: there is no zone ${zone_id} in this account.`;
      expect((await create({ zone_id })).problem).toMatchObject({ kind: 'unprocessable', detail });
      expect((await change({ name: 'New', zone_id })).problem).toMatchObject({ kind: 'unprocessable', detail });
    }
    expect(await read()).toEqual(tree.camera);
  });
});

describe('change', () => {
  test('200: what is given changes, what is left out stays, null clears', async () => {
    service.clock.advance({ seconds: 1 });
    const fields = { name: 'New', external_id: 'C-1', device_id: newId('device') };
    const full = await change(fields);
    expect(full.body).toEqual({ ...tree.camera, ...fields, updated_at: full.body.updated_at });
    expect(Date.parse(full.body.updated_at)).toBeGreaterThan(Date.parse(tree.camera.updated_at));
    const cleared = await change({ external_id: null });
    expect(cleared.body).toEqual({ ...full.body, external_id: null, updated_at: cleared.body.updated_at });
    expect(await read()).toEqual(cleared.body);
  });

  test.each([
    ...badValues,
    [{ id: 'cam_1' }, 'body.id: cannot be changed here, not "cam_1".'] as const,
    [{ location_id: 'loc_1' }, 'body.location_id: cannot be changed here, not "loc_1".'] as const,
    [{ created_at: null }, 'body.created_at: cannot be changed here, not null.'] as const,
    [{ updated_at: null }, 'body.updated_at: cannot be changed here, not null.'] as const,
  ])('400: %j is refused by name, and nothing changes', async (body, detail) => {
    expect((await change(body)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await read()).toEqual(tree.camera);
  });

  test('200: a move takes the camera to the location of its new zone, and needs the right in both groups', async () => {
    const away = await tenant.tree();
    const move = (here: string, there: string) =>
      tenant
        .narrowed({ [tree.group.id]: here, [away.group.id]: there })
        .call(updateCamera, { params: { id: tree.camera.id }, body: { zone_id: away.zone.id } });
    expect((await move('a', 'm')).status).toBe(403);
    expect((await move('m', 'a')).status).toBe(403);
    expect((await move('a', 'x')).status).toBe(422);
    expect(await read()).toEqual(tree.camera);
    const moved = await move('a', 'a');
    expect(moved.body).toMatchObject({ zone_id: away.zone.id, location_id: away.location.id });
    // A caller of the old group alone does not see it any more.
    const former = tenant.narrowed({ [tree.group.id]: 'a' });
    expect((await former.call(getCamera, { params: { id: tree.camera.id } })).problem?.kind).toBe('not-found');
  });
});

test('204: a deleted camera does not exist any more, and deleting it again is 404', async () => {
  const params = { id: tree.camera.id };
  expect((await tenant.owner.call(deleteCamera, { params })).status).toBe(204);
  expect((await tenant.owner.call(getCamera, { params })).problem?.kind).toBe('not-found');
  expect((await tenant.owner.call(deleteCamera, { params })).problem?.kind).toBe('not-found');
  expect((await change({})).problem?.kind).toBe('not-found');
});
