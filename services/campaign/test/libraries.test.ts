import {
  createAdLibrary,
  createMediaAsset,
  createMediaLibrary,
  deleteAdLibrary,
  deleteMediaLibrary,
  getAdLibrary,
  getMediaAsset,
  getMediaLibrary,
  listAdLibraries,
  listMediaAssets,
  listMediaLibraries,
  updateAdLibrary,
  updateMediaLibrary,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, startCampaign } from './support.ts';
import { promise } from './support-media.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

const media = {
  list: listMediaLibraries,
  create: createMediaLibrary,
  get: getMediaLibrary,
  update: updateMediaLibrary,
  remove: deleteMediaLibrary,
};
const ad = {
  list: listAdLibraries,
  create: createAdLibrary,
  get: getAdLibrary,
  update: updateAdLibrary,
  remove: deleteAdLibrary,
} as unknown as typeof media;

describe.each([
  ['media', media, 'asset_count'],
  ['ad', ad, 'ad_count'],
] as const)('a library of kind %s', (_kind, { list, create, get, update, remove }, count) => {
  test('201, 200: it is created with defaults, read, changed and listed newest first', async () => {
    const { owner, account } = newTenant(service);
    const { body } = await owner.call(create, { body: { name: ' Spring ' } });
    expect(body).toMatchObject({ account_id: account, name: 'Spring', description: null, group_id: null, [count]: 0 });
    const params = { id: body.id };
    expect((await owner.call(get, { params })).body).toEqual(body);
    const changed = (await owner.call(update, { params, body: { description: 'Shoes' } })).body;
    expect(changed).toMatchObject({ name: 'Spring', description: 'Shoes', created_at: body.created_at });
    const other = (await owner.call(create, { body: { name: 'Autumn 100%' } })).body;
    const ids = async (query: object = {}) =>
      (await owner.call(list, { query: query as never })).body.entries.map(({ id }) => id);
    expect(await ids()).toEqual([other.id, body.id]);
    expect(await ids({ query: 'SPR' })).toEqual([body.id]);
    expect(await ids({ query: '%' })).toEqual([other.id]);
    expect(await ids({ group_ids: newId('group') })).toEqual([]);
    const [page] = (await owner.call(list, { query: { limit: 1 } })).body.entries;
    expect(page?.id).toBe(other.id);
  });

  test('a narrowed caller sees those of its groups and its own, and nobody else of the account', async () => {
    const { owner, narrowed, group } = newTenant(service);
    const [mine, theirs] = [await group(), await group()];
    const member = narrowed([mine]);
    const ofMine = (await owner.call(create, { body: { name: 'Ours', group_id: mine } })).body;
    const ofTheirs = (await owner.call(create, { body: { name: 'Theirs', group_id: theirs } })).body;
    const own = (await member.call(create, { body: { name: 'Own' } })).body;
    expect(own.group_id).toBe(mine);
    expect((await member.call(list)).body.entries.map(({ id }) => id)).toEqual([own.id, ofMine.id]);
    for (const method of [get, remove])
      expect((await member.call(method, { params: { id: ofTheirs.id } })).status).toBe(404);
    expect((await member.call(update, { params: { id: ofTheirs.id }, body: { name: 'x' } })).status).toBe(404);
  });

  test('422: a group that is unknown, or not one of the caller', async () => {
    const { owner, narrowed, group } = newTenant(service);
    const [mine, theirs] = [await group(), await group()];
    const member = narrowed([mine]);
    const own = (await member.call(create, { body: { name: 'Own' } })).body;
    const unknown = newId('group');
    expect((await owner.call(create, { body: { name: 'x', group_id: unknown } })).status).toBe(422);
    for (const group_id of [unknown, theirs, null])
      expect((await member.call(update, { params: { id: own.id }, body: { group_id } })).status).toBe(422);
  });

  test('400: no name, a long description, or a field that cannot be changed', async () => {
    const { owner } = newTenant(service);
    expect((await owner.call(create, { body: {} as never })).status).toBe(400);
    expect((await owner.call(create, { body: { name: 'x', description: 'x'.repeat(2_001) } })).status).toBe(400);
    const params = { id: (await owner.call(create, { body: { name: 'x' } })).body.id };
    expect((await owner.call(update, { params, body: { [count]: 3 } as never })).status).toBe(400);
  });

  test('204: an empty one is deleted, once', async () => {
    const { owner } = newTenant(service);
    const params = { id: (await owner.call(create, { body: { name: 'x' } })).body.id };
    expect((await owner.call(remove, { params })).status).toBe(204);
    expect((await owner.call(remove, { params })).status).toBe(404);
  });
});

test('an asset is seen, and counted, with its library', async () => {
  const { owner, narrowed, group } = newTenant(service);
  const mine = await group();
  const asset = await promise(owner, { filename: 'a.png', bytes: Buffer.alloc(1) });
  const params = { id: asset.media_library_id };
  const { body } = await owner.call(getMediaLibrary, { params });
  expect(body.asset_count).toBe(1);
  const member = narrowed([mine]);

  expect((await member.call(getMediaAsset, { params: { id: asset.id } })).status).toBe(404);
  expect((await member.call(listMediaAssets)).body.entries).toEqual([]);
  await owner.call(updateMediaLibrary, { params, body: { group_id: mine } });
  expect((await member.call(getMediaAsset, { params: { id: asset.id } })).status).toBe(200);
  expect((await member.call(listMediaAssets)).body.entries.map(({ id }) => id)).toEqual([asset.id]);
});

test('409: of a deletion and a promise at the same time, no asset is left without a library', async () => {
  const { owner } = newTenant(service);

  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const { id } = (await owner.call(createMediaLibrary, { body: { name: 'x' } })).body;
      const body = { media_library_id: id, filename: 'a.png', size_bytes: 1 };
      const [made, deleted] = await Promise.all([
        owner.call(createMediaAsset, { body }),
        owner.call(deleteMediaLibrary, { params: { id } }),
      ]);
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([made.status, deleted.status]);
    }),
  );
});
