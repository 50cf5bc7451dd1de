import {
  createInstallation,
  deleteInstallation,
  deleteLocation,
  deleteScreen,
  getInstallation,
  updateInstallation,
  updateScreen,
  updateZone,
} from '@attribution/contracts';
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

const to = (screen_id: string, output = 'HDMI-1') => ({ output, screen_id });
const create = (fields: object = {}) =>
  tenant.owner.call(createInstallation, {
    body: { location_id: tree.location.id, device_id: newId('device'), ...fields },
  });
const change = (id: string, body: object) => tenant.owner.call(updateInstallation, { params: { id }, body });
const read = async (id: string) => (await tenant.owner.call(getInstallation, { params: { id } })).body;

describe('create', () => {
  test('201: with only what is required it is live from now, and can be read back', async () => {
    const device_id = newId('device');
    const created = await create({ device_id });
    expect(created.status).toBe(201);
    const { id, created_at } = created.body;
    expect(id).toMatch(/^ins_/);
    expect(created.body).toEqual({
      id,
      location_id: tree.location.id,
      device_id,
      name: null,
      external_id: null,
      outputs: [],
      status: 'live',
      installed_at: created_at,
      removed_at: null,
      created_at,
      updated_at: created_at,
    });
    expect(await read(id)).toEqual(created.body);
  });

  test('201: every field is kept, outputs in order of their names, unknown fields are ignored', async () => {
    const screens = [(await tenant.screen(tree.zone.id)).id, (await tenant.screen(tree.zone.id)).id] as const;
    const fields = { name: 'Behind the counter', external_id: 'P-1', status: 'live' };
    const outputs = [to(screens[0], 'b'), to(screens[1], 'B')];
    const created = await create({ ...fields, outputs, colour: 'red' });
    expect(created.body).toMatchObject({ ...fields, outputs: [to(screens[1], 'B'), to(screens[0], 'b')] });
    expect(created.body).not.toHaveProperty('colour');
    expect(await read(created.body.id)).toEqual(created.body);
  });

  test('201: one that is created as removed occupies neither its device nor its screens', async () => {
    const { device_id } = tree.installation;
    const created = await create({ device_id, outputs: [to(tree.screen.id)], status: 'removed' });
    const { created_at } = created.body;
    expect(created.body).toMatchObject({ status: 'removed', installed_at: created_at, removed_at: created_at });
  });

  const wire = (count: number) => Array.from({ length: count }, (_, at) => to(newId('screen'), `O-${at}`));
  const known = newId('screen');
  test.each<[object, string]>([
    [{ location_id: undefined }, 'body.location_id: is required.'],
    [{ location_id: 'zon_1' }, 'body.location_id: must be a location id (loc_…), not "zon_1".'],
    [{ device_id: undefined }, 'body.device_id: is required.'],
    [{ device_id: null }, 'body.device_id: must be text, not null.'],
    [{ device_id: 'dev_1' }, 'body.device_id: must be a device id (dev_…), not "dev_1".'],
    [{ name: '' }, 'body.name: must not be empty, not "".'],
    [{ external_id: '' }, 'body.external_id: must not be empty, not "".'],
    [{ status: 'dead' }, 'body.status: must be one of live, removed, not "dead".'],
    [{ outputs: null }, 'body.outputs: must be an array, not null.'],
    [{ outputs: [{ output: 'HDMI-1' }] }, 'body.outputs[0].screen_id: is required.'],
    [{ outputs: [{ screen_id: known }] }, 'body.outputs[0].output: is required.'],
    [{ outputs: [to('scr_1')] }, 'body.outputs[0].screen_id: must be a screen id (scr_…), not "scr_1".'],
    [{ outputs: [to(known, 'x'.repeat(65))] }, 'body.outputs[0].output: must have at most 64 characters.'],
    [{ outputs: [to(known, 'a'), to(known, 'b')] }, 'body.outputs: must name each screen once.'],
    [{ outputs: [to(known), to(newId('screen'))] }, 'body.outputs: must name each output once.'],
  ])('400: %j is refused by name, and nothing is created', async (fields, detail) => {
    const before = await tenant.events();
    expect((await create(fields)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await tenant.events()).toEqual(before);
  });

  test('400: a device has 16 outputs at most', async () => {
    expect((await create({ outputs: wire(17) })).problem).toMatchObject({
      kind: 'validation-error',
      detail: expect.stringMatching(/^body\.outputs: .*16/),
    });
    // With sixteen outputs, only the screens are refused.
    expect((await create({ outputs: wire(16) })).problem?.kind).toBe('unprocessable');
  });

  test('409: an external id that another installation of the account has is refused; another account has its own', async () => {
    expect((await create({ external_id: 'P-1' })).status).toBe(201);
    expect((await create({ external_id: 'P-1' })).problem).toMatchObject({
      kind: 'conflict',
      detail: 'body.external_id: is used by another installation.',
    });
    const other = newTenant(service);
    const { location } = await other.tree();
    expect((await other.installation(location.id, { external_id: 'P-1' })).external_id).toBe('P-1');
  });

  test('422: a location that is unknown or of another account is named', async () => {
    const foreign = (await newTenant(service).tree()).location.id;
    for (const location_id of [newId('location'), foreign]) {
      const detail = `body.location_id: there is no location ${location_id} in this account.`;
      expect((await create({ location_id })).problem).toMatchObject({ kind: 'unprocessable', detail });
    }
  });

  test('422: a screen that is unknown, of another account or in another location is named by its position', async () => {
    const foreign = (await newTenant(service).tree()).screen.id;
    const next = await tenant.zone((await tenant.location(tree.group.id)).id);
    const good = to((await tenant.screen(tree.zone.id)).id, 'HDMI-0');
    const before = await tenant.events();
    for (const screen_id of [newId('screen'), foreign, (await tenant.screen(next.id)).id]) {
      const detail = `body.outputs[1].screen_id: there is no screen ${screen_id} in the location.`;
      const wrong = { outputs: [good, to(screen_id)] };
      expect((await create(wrong)).problem).toMatchObject({ kind: 'unprocessable', detail });
      expect((await change(tree.installation.id, wrong)).problem).toMatchObject({ kind: 'unprocessable', detail });
    }
    expect((await tenant.events()).slice(before.length).map(({ type }) => type)).toEqual(['screen.created']);
    expect(await read(tree.installation.id)).toEqual(tree.installation);
  });
});

describe('change', () => {
  test('200: what is given changes, what is left out stays, null clears', async () => {
    const before = tree.installation;
    service.clock.advance({ seconds: 1 });
    const full = await change(before.id, { name: 'Player', external_id: 'P-9' });
    expect(full.body).toEqual({ ...before, name: 'Player', external_id: 'P-9', updated_at: full.body.updated_at });
    expect(Date.parse(full.body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    const same = await change(before.id, {});
    expect(same.body).toEqual({ ...full.body, updated_at: same.body.updated_at });
    const cleared = await change(before.id, { name: null, external_id: null });
    expect(cleared.body).toEqual({ ...before, updated_at: cleared.body.updated_at });
    expect(await read(before.id)).toEqual(cleared.body);
  });

  test('200: outputs are replaced as a whole, and an output may take the screen of another', async () => {
    const [first, second] = [tree.screen.id, (await tenant.screen(tree.zone.id)).id];
    const { id } = tree.installation;
    for (const outputs of [
      [to(first, 'A'), to(second, 'B')],
      [to(second, 'A'), to(first, 'B')],
      [to(second, 'C')],
      [],
    ]) {
      expect((await change(id, { outputs })).body.outputs).toEqual(outputs);
      expect((await read(id)).outputs).toEqual(outputs);
    }
  });

  test('200: removing it and making it live again set their times, and repeating either changes neither', async () => {
    const { id, installed_at } = tree.installation;
    const next = async (status: string) => {
      service.clock.advance({ seconds: 1 });
      return (await change(id, { status })).body;
    };
    const removed = await next('removed');
    expect(removed).toMatchObject({ status: 'removed', installed_at, removed_at: removed.updated_at });
    expect(await next('removed')).toMatchObject({ installed_at, removed_at: removed.updated_at });
    const live = await next('live');
    expect(live).toMatchObject({ status: 'live', installed_at: live.updated_at, removed_at: null });
    expect(await next('live')).toMatchObject({ installed_at: live.updated_at, removed_at: null });
  });

  test('200: status and outputs change together', async () => {
    const { id } = tree.installation;
    const second = to((await tenant.screen(tree.zone.id)).id, 'B');
    const removed = await change(id, { status: 'removed', outputs: [second] });
    expect(removed.body).toMatchObject({ status: 'removed', outputs: [second] });
    // The removed installation occupies no screen: another may be live on both.
    await tenant.installation(tree.location.id, { outputs: [second, to(tree.screen.id)] });
    const third = to((await tenant.screen(tree.zone.id)).id, 'C');
    const live = await change(id, { status: 'live', outputs: [third] });
    expect(live.body).toMatchObject({ status: 'live', outputs: [third] });
    const { rows } = await service.db.query(
      'SELECT output, live FROM installation_outputs WHERE installation_id = $1',
      [id],
    );
    expect(rows).toEqual([{ output: 'C', live: true }]);
  });

  test.each<[object, string]>([
    [{ id: 'ins_1' }, 'body.id: cannot be changed here, not "ins_1".'],
    [{ location_id: 'loc_1' }, 'body.location_id: cannot be changed here, not "loc_1".'],
    [{ device_id: 'dev_1' }, 'body.device_id: cannot be changed here, not "dev_1".'],
    [{ installed_at: null }, 'body.installed_at: cannot be changed here, not null.'],
    [{ removed_at: null }, 'body.removed_at: cannot be changed here, not null.'],
    [{ created_at: null }, 'body.created_at: cannot be changed here, not null.'],
    [{ updated_at: null }, 'body.updated_at: cannot be changed here, not null.'],
    [{ name: 'New', status: null }, 'body.status: must be one of live, removed, not null.'],
    [{ name: 'New', outputs: {} }, 'body.outputs: must be an array.'],
  ])('400: %j is refused by name, and nothing changes', async (body, detail) => {
    expect((await change(tree.installation.id, body)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await read(tree.installation.id)).toEqual(tree.installation);
  });

  test('409: an external id that another has is refused, its own is kept', async () => {
    await create({ external_id: 'P-1' });
    const { id } = (await create({ external_id: 'P-2' })).body;
    expect((await change(id, { external_id: 'P-1' })).problem?.kind).toBe('conflict');
    expect((await change(id, { external_id: 'P-2' })).status).toBe(200);
  });
});

describe('a screen that is wired', () => {
  const wired = 'The screen is wired in an installation: change or delete that first.';

  test.each(['live', 'removed'] as const)('409: is not deleted while an installation, %s, has it', async (status) => {
    await change(tree.installation.id, { status });
    const deletion = await tenant.owner.call(deleteScreen, { params: { id: tree.screen.id } });
    expect(deletion.problem).toMatchObject({ kind: 'conflict', detail: wired });
    await change(tree.installation.id, { outputs: [] });
    expect((await tenant.owner.call(deleteScreen, { params: { id: tree.screen.id } })).status).toBe(204);
  });

  test('409: is not moved to another location, and moves within its own', async () => {
    const away = await tenant.zone((await tenant.location(tree.group.id)).id);
    const near = await tenant.zone(tree.location.id);
    const move = (zone_id: string) =>
      tenant.owner.call(updateScreen, { params: { id: tree.screen.id }, body: { zone_id } });
    expect((await move(away.id)).problem).toMatchObject({ kind: 'conflict', detail: wired });
    expect((await move(near.id)).body).toMatchObject({ zone_id: near.id, location_id: tree.location.id });
    await tenant.owner.call(deleteInstallation, { params: { id: tree.installation.id } });
    expect((await move(away.id)).body).toMatchObject({ zone_id: away.id, location_id: away.location_id });
  });
});

describe('delete', () => {
  test('204: it is deleted with its outputs, its device and screens are free, and deleting it again is 404', async () => {
    const { id, device_id, outputs } = tree.installation;
    const params = { id };
    expect((await tenant.owner.call(deleteInstallation, { params })).status).toBe(204);
    expect((await tenant.owner.call(getInstallation, { params })).problem?.kind).toBe('not-found');
    expect((await tenant.owner.call(deleteInstallation, { params })).problem?.kind).toBe('not-found');
    expect((await change(id, {})).problem?.kind).toBe('not-found');
    const { rows } = await service.db.query('SELECT output FROM installation_outputs WHERE installation_id = $1', [id]);
    expect(rows).toEqual([]);
    expect((await create({ device_id, outputs })).status).toBe(201);
  });

  test('409: a location with an installation, even a removed one, is not deleted', async () => {
    const { id } = await tenant.location(tree.group.id);
    await tenant.installation(id, { status: 'removed' });
    const refused = await tenant.owner.call(deleteLocation, { params: { id } });
    expect(refused.problem).toMatchObject({
      kind: 'conflict',
      detail: 'The location has installations: delete them first.',
    });
  });
});

test('404: a zone’s id with the prefix of an installation, and an installation’s id as that of a zone, are not found', async () => {
  const id = tree.zone.id.replace('zon_', 'ins_');
  expect((await change(id, {})).problem?.kind).toBe('not-found');
  expect((await tenant.owner.call(updateZone, { params: { id: tree.installation.id }, body: {} })).problem?.kind).toBe(
    'not-found',
  );
});
