import { createScreen, deleteScreen, getScreen, updateScreen } from '@attribution/contracts';
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
  tenant.owner.call(createScreen, {
    body: { zone_id: tree.zone.id, name: 'Left', width_px: 1920, height_px: 1080, ...fields },
  });
const change = (body: object, id = tree.screen.id) => tenant.owner.call(updateScreen, { params: { id }, body });
const read = async (id = tree.screen.id) => (await tenant.owner.call(getScreen, { params: { id } })).body;

const formats = 'image/jpeg, image/png, image/webp, image/gif, video/mp4, video/webm';

/** Values that both creating and changing refuse. */
const badValues: [object, string][] = [
  [{ zone_id: 'loc_1' }, 'body.zone_id: must be a zone id (zon_…), not "loc_1".'],
  [{ zone_id: null }, 'body.zone_id: must be text, not null.'],
  [{ name: '' }, 'body.name: must not be empty, not "".'],
  [{ name: 'x'.repeat(201) }, 'body.name: must have at most 200 characters.'],
  [{ width_px: 0 }, 'body.width_px: must be at least 1, not 0.'],
  [{ height_px: -1 }, 'body.height_px: must be at least 1, not -1.'],
  [{ width_px: 65_536 }, 'body.width_px: must be at most 65535, not 65536.'],
  [{ height_px: 1.5 }, 'body.height_px: must be a whole number, not 1.5.'],
  [{ width_px: '1920' }, 'body.width_px: must be a number, not "1920".'],
  [{ height_px: null }, 'body.height_px: must be a number, not null.'],
  [{ orientation: 'upright' }, 'body.orientation: must be one of landscape, portrait, square, not "upright".'],
  [{ tags: null }, 'body.tags: must be an array, not null.'],
  [{ tags: 'window' }, 'body.tags: must be an array, not "window".'],
  [{ tags: ['a', 1] }, 'body.tags[1]: must be text, not 1.'],
  [{ tags: ['a', ' '] }, 'body.tags[1]: must not be empty, not " ".'],
  [{ tags: ['a,b'] }, 'body.tags[0]: must have letters, digits and - _ . : only, not "a,b".'],
  [{ tags: ['x'.repeat(51)] }, `body.tags[0]: must have at most 50 characters, not "${'x'.repeat(51)}".`],
  [{ tags: Array.from({ length: 51 }, (_, at) => `t${at}`) }, 'body.tags: must have at most 50 values.'],
  [{ accepted_formats: null }, 'body.accepted_formats: must be an array, not null.'],
  [{ accepted_formats: ['image/tiff'] }, `body.accepted_formats[0]: must be one of ${formats}, not "image/tiff".`],
  [{ audio: 'yes' }, 'body.audio: must be true or false, not "yes".'],
  [{ audio: null }, 'body.audio: must be true or false, not null.'],
];

describe('create', () => {
  test('201: with only what is required it has its defaults and nothing else, and can be read back', async () => {
    const created = await create();
    expect(created.status).toBe(201);
    const { id, created_at } = created.body;
    expect(id).toMatch(/^scr_/);
    expect(created.body).toEqual({
      id,
      location_id: tree.location.id,
      zone_id: tree.zone.id,
      name: 'Left',
      external_id: null,
      tags: [],
      width_px: 1920,
      height_px: 1080,
      orientation: 'landscape',
      accepted_formats: ['image/jpeg', 'image/png', 'video/mp4'],
      audio: false,
      created_at,
      updated_at: created_at,
    });
    expect(await read(id)).toEqual(created.body);
  });

  test('201: every field is kept, formats in their order and each once, unknown fields are ignored', async () => {
    const fields = { external_id: 'S-1', width_px: 65_535, height_px: 1, orientation: 'landscape', audio: true };
    const accepted_formats = ['video/webm', 'image/webp', 'video/webm'];
    const created = await create({ ...fields, accepted_formats, colour: 'red' });
    expect(created.body).toMatchObject({ ...fields, accepted_formats: ['image/webp', 'video/webm'] });
    expect(created.body).not.toHaveProperty('colour');
  });

  test.each([
    [1920, 1080, 'landscape'],
    [1080, 1920, 'portrait'],
    [1080, 1080, 'square'],
    [1081, 1080, 'landscape'],
  ])('201: %d x %d is %3$s, whether the request says so or not', async (width_px, height_px, orientation) => {
    expect((await create({ width_px, height_px })).body.orientation).toBe(orientation);
    expect((await create({ width_px, height_px, orientation })).body.orientation).toBe(orientation);
  });

  test('201: tags are normalized, without duplicates, and sorted by code point', async () => {
    const tags = ['Window ', 'eye level', 'EYE-LEVEL', 'Ａ1', 'École', '東京', 'a.b:c_d'];
    expect((await create({ tags })).body.tags).toEqual(['a.b:c_d', 'a1', 'eye-level', 'window', 'école', '東京']);
  });

  test.each([
    ...badValues,
    [{ zone_id: undefined }, 'body.zone_id: is required.'] as const,
    [{ name: undefined }, 'body.name: is required.'] as const,
    [{ width_px: undefined }, 'body.width_px: is required.'] as const,
    [{ height_px: undefined }, 'body.height_px: is required.'] as const,
    [{ orientation: 'portrait' }, 'body.orientation: must be landscape for 1920 x 1080, not "portrait".'] as const,
  ])('400: %j is refused by name, and nothing is created', async (fields, detail) => {
    const before = await tenant.events();
    expect((await create(fields)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await tenant.events()).toEqual(before);
  });

  test('400: a screen must play at least one format', async () => {
    const answer = await create({ accepted_formats: [] });
    expect(answer.problem).toMatchObject({
      kind: 'validation-error',
      detail: expect.stringMatching(/^body\.accepted_formats: /),
    });
  });

  test('422: a zone that is unknown or of another account is named', async () => {
    const foreign = (await newTenant(service).tree()).zone.id;
    for (const zone_id of [newId('zone'), foreign]) {
      const detail = `body.zone_id: there is no zone ${zone_id} in this account.`;
      expect((await create({ zone_id })).problem).toMatchObject({ kind: 'unprocessable', detail });
      expect((await change({ name: 'New', zone_id })).problem).toMatchObject({ kind: 'unprocessable', detail });
    }
    expect(await read()).toEqual(tree.screen);
  });
});

describe('change', () => {
  test('200: what is given changes, what is left out stays, null clears', async () => {
    service.clock.advance({ seconds: 1 });
    const fields = { name: 'New', external_id: 'S-1', tags: ['a'], accepted_formats: ['video/mp4'], audio: true };
    const full = await change({ ...fields });
    expect(full.body).toEqual({ ...tree.screen, ...fields, updated_at: full.body.updated_at });
    expect(Date.parse(full.body.updated_at)).toBeGreaterThan(Date.parse(tree.screen.updated_at));
    const same = await change({});
    expect(same.body).toEqual({ ...full.body, updated_at: same.body.updated_at });
    const cleared = await change({ external_id: null, tags: [] });
    expect(cleared.body).toEqual({ ...full.body, external_id: null, tags: [], updated_at: cleared.body.updated_at });
    expect(await read()).toEqual(cleared.body);
  });

  test('200: a new width or height changes the orientation', async () => {
    expect((await change({ width_px: 1080, height_px: 1920 })).body.orientation).toBe('portrait');
    expect((await change({ width_px: 1920 })).body).toMatchObject({ height_px: 1920, orientation: 'square' });
    expect((await change({ height_px: 1, orientation: 'landscape' })).body.orientation).toBe('landscape');
    expect((await read()).orientation).toBe('landscape');
  });

  test.each<[object, string]>([
    [{ orientation: 'portrait' }, 'body.orientation: must be landscape for 1920 x 1080'],
    [{ width_px: 1080, orientation: 'landscape' }, 'body.orientation: must be square for 1080 x 1080'],
    [{ width_px: 1, height_px: 2, orientation: 'square' }, 'body.orientation: must be portrait for 1 x 2'],
  ])('400: %j contradicts the size, and nothing changes', async (body, detail) => {
    const answer = await change({ name: 'New', ...body });
    expect(answer.problem).toMatchObject({ kind: 'validation-error', detail: expect.stringContaining(detail) });
    expect(await read()).toEqual(tree.screen);
  });

  test.each([
    ...badValues,
    [{ id: 'scr_1' }, 'body.id: cannot be changed here, not "scr_1".'] as const,
    [{ location_id: 'loc_1' }, 'body.location_id: cannot be changed here, not "loc_1".'] as const,
    [{ created_at: null }, 'body.created_at: cannot be changed here, not null.'] as const,
    [{ updated_at: null }, 'body.updated_at: cannot be changed here, not null.'] as const,
  ])('400: %j is refused by name, and nothing changes', async (body, detail) => {
    expect((await change(body)).problem).toMatchObject({ kind: 'validation-error', detail });
    expect(await read()).toEqual(tree.screen);
  });

  test('200: a move takes the screen to the location and the group of its new zone', async () => {
    const { id } = await tenant.screen(tree.zone.id);
    const away = (await tenant.tree()).zone;
    const moved = await change({ zone_id: away.id }, id);
    expect(moved.body).toMatchObject({ zone_id: away.id, location_id: away.location_id });
    const { rows } = await service.db.query(
      'SELECT s.group_id = l.group_id AS follows FROM screens s JOIN locations l ON l.id = s.location_id WHERE s.id = $1',
      [id],
    );
    expect(rows).toEqual([{ follows: true }]);
  });

  test('a move to another group needs rights in both groups', async () => {
    const { id } = await tenant.screen(tree.zone.id);
    const away = await tenant.tree();
    const move = async (here: string, there: string) => {
      const caller = tenant.narrowed({ [tree.group.id]: here, [away.group.id]: there });
      return (await caller.call(updateScreen, { params: { id }, body: { zone_id: away.zone.id } })).status;
    };
    expect(await move('a', 'm')).toBe(403);
    expect(await move('m', 'a')).toBe(403);
    expect(await move('a', 'x')).toBe(422);
    expect(await move('x', 'a')).toBe(404);
    expect((await read(id)).zone_id).toBe(tree.zone.id);
    expect(await move('a', 'a')).toBe(200);
  });
});

test('204: a deleted screen does not exist any more, and deleting it again is 404', async () => {
  const params = { id: (await create()).body.id };
  expect((await tenant.owner.call(deleteScreen, { params })).status).toBe(204);
  expect((await tenant.owner.call(getScreen, { params })).problem?.kind).toBe('not-found');
  expect((await tenant.owner.call(deleteScreen, { params })).problem?.kind).toBe('not-found');
  expect((await change({}, params.id)).problem?.kind).toBe('not-found');
});
