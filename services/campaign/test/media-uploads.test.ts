import {
  completeMediaAsset,
  createMediaAsset,
  deleteMediaAsset,
  deleteMediaLibrary,
  getMediaAnalysis,
  getMediaAsset,
  listMediaAssets,
  renewMediaUpload,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startCampaign } from './support.ts';
import {
  completed,
  here,
  newLastingTenant,
  newLibrary,
  objectsIn,
  plain,
  promise,
  put,
  sha256,
} from './support-media.ts';

let service: TestService;
let png: Buffer;
beforeAll(async () => {
  service = await startCampaign();
  png = await plain().png().toBuffer();
});
afterAll(() => service.stop());

const file = (fields: object = {}) => ({ filename: 'a.png', bytes: png, fields });
/** How many objects of the account are known to the database. */
const known = async (account: string) =>
  (await service.db.query('SELECT key FROM stored_objects WHERE account_id = $1', [account])).rowCount;
const nothingIsLeft = (account: string) => eventually(async () => expect(await known(account)).toBe(0));

test('201: a file is promised; what is not known yet is null, and the upload URL is absolute', async () => {
  const { owner } = newLastingTenant(service);
  const asset = await promise(owner, file());
  expect(asset).toMatchObject({
    ...{ status: 'awaiting_upload', kind: 'image', mime_type: 'image/png', size_bytes: png.length, sha256: null },
    ...{
      probe: null,
      analysis_id: null,
      failure: null,
      job_id: null,
      url: null,
      poster_url: null,
      thumbnail_url: null,
    },
    urls_expire_at: null,
  });
  expect(asset.upload_url).toMatch(/^http:\/\/localhost:8080\/v2\/media-uploads\?ticket=/);
  expect(asset.upload_parts).toBeUndefined();
});

test.each<[string, object]>([
  ['a name with a slash', { filename: 'a/b.png' }],
  ['a name of two lines', { filename: 'a\nb.png' }],
  ['a name of no known type', { filename: 'a.txt' }],
  ['an SVG by its name', { filename: 'a.svg' }],
  ['an SVG by its type', { mime_type: 'image/svg+xml' }],
  ['no bytes', { size_bytes: 0 }],
  ['more bytes than an image may have', { size_bytes: 50 * 1024 * 1024 + 1 }],
  ['a promise of 10 GB', { filename: 'a.mp4', size_bytes: 10_000_000_000 }],
  ['a hash in capitals', { sha256: 'A'.repeat(64) }],
])('400: %s', async (_, fields) => {
  const { owner } = newLastingTenant(service);
  const body = { media_library_id: newId('media_library'), filename: 'a.png', size_bytes: 1, ...fields };
  expect((await owner.call(createMediaAsset, { body: body as never })).status).toBe(400);
});

test("422: a library that is unknown, or another account's", async () => {
  const { owner } = newLastingTenant(service);
  const foreign = await newLibrary(newLastingTenant(service).owner);
  for (const media_library_id of [newId('media_library'), foreign]) {
    const { problem } = await owner.call(createMediaAsset, {
      body: { media_library_id, filename: 'a.png', size_bytes: 1 },
    });
    expect([problem?.status, problem?.detail]).toEqual([422, expect.stringContaining(media_library_id)]);
  }
});

test('409: an asset that is a cover is not deleted, nor a library that is not empty', async () => {
  const { owner, campaign } = newTenant(service);
  const asset = await promise(owner, file());
  const { id } = await campaign();
  await service.db.query('UPDATE campaigns SET media_asset_id = $1 WHERE id = $2', [asset.id, id]);
  expect((await owner.call(deleteMediaAsset, { params: { id: asset.id } })).status).toBe(409);
  expect((await owner.call(deleteMediaLibrary, { params: { id: asset.media_library_id } })).status).toBe(409);
});

test('a repeated promise is the same asset, with fresh URLs', async () => {
  const { owner } = newLastingTenant(service);
  const media_library_id = await newLibrary(owner);
  const input = {
    body: { media_library_id, filename: 'a.png', size_bytes: png.length },
    headers: { 'idempotency-key': 'once' },
  };
  const first = (await owner.call(createMediaAsset, input)).body;
  service.clock.advance({ minutes: 120 });
  const second = (await owner.call(createMediaAsset, input)).body;
  expect(second).toMatchObject({ id: first.id, created_at: first.created_at });
  expect((await put(service, first.upload_url, png)).status).toBe(403);
  expect((await put(service, second.upload_url, png)).status).toBe(204);
});

test('refused bytes leave nothing in the store: other length, other hash, too few, altered or expired URL', async () => {
  const { owner, account } = newLastingTenant(service);
  const { id, upload_url } = await promise(owner, file({ sha256: sha256(png) }));
  const wrong = Buffer.from(png);
  wrong[20] = 255 - (wrong[20] ?? 0);
  expect((await put(service, upload_url, png.subarray(1))).status).toBe(400);
  expect((await put(service, upload_url, Buffer.concat([png, png]))).status).toBe(400);
  expect((await put(service, upload_url, wrong)).status).toBe(400);
  const chunked = {
    method: 'PUT',
    body: new Blob([new Uint8Array(png.subarray(1))]).stream(),
    duplex: 'half',
  } as RequestInit;
  expect((await fetch(here(service, upload_url), chunked)).status).toBe(400);
  for (const altered of [`${upload_url}x`, upload_url.slice(0, -3), upload_url.replace(/ticket=./, 'ticket=x')])
    expect((await put(service, altered, png)).status).toBe(403);
  expect((await put(service, upload_url.replace(/ticket=.*/, ''), png)).status).toBe(400);
  expect((await owner.call(completeMediaAsset, { params: { id }, body: {} })).status).toBe(409);
  await nothingIsLeft(account);
  service.clock.advance({ minutes: 60 });
  expect((await put(service, upload_url, png)).status).toBe(403);
  const renewed = (await owner.call(renewMediaUpload, { params: { id } })).body;
  expect((await put(service, renewed.upload_url, png)).status).toBe(204);
});

test('of many PUTs at once one is taken; none is, by any URL, once a file was taken or the upload completed', async () => {
  const { owner, account } = newLastingTenant(service);
  const { id, upload_url } = await promise(owner, file());
  const answers = await Promise.all(Array.from({ length: 8 }, () => put(service, upload_url, png)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array<number>(7).fill(409)]);
  const renewed = (await owner.call(renewMediaUpload, { params: { id } })).body;
  expect((await put(service, renewed.upload_url, png)).status).toBe(409);
  const { asset } = await completed(owner, id);
  expect(asset.status).toBe('ready');
  expect((await put(service, renewed.upload_url, png)).status).toBe(409);
  expect((await owner.call(renewMediaUpload, { params: { id } })).status).toBe(409);
  expect((await owner.call(completeMediaAsset, { params: { id }, body: {} })).status).toBe(409);
  await eventually(async () => expect(await known(account)).toBe(3)); // The content, the poster and the thumbnail.
});

test('parts come in any order, several at once, and again; complete wants all of them', async () => {
  const { owner, account } = newLastingTenant(service);
  const bytes = Buffer.alloc(40 * 1024 * 1024, png);
  const { id, upload_url, upload_parts } = await promise(owner, { filename: 'a.png', bytes });
  const parts = upload_parts?.parts ?? [];
  const size = upload_parts?.part_size_bytes ?? 0;
  expect(parts.map((part) => part.size_bytes)).toEqual([size, size, bytes.length - 2 * size]);
  const send = (at: number, from = at) =>
    put(service, parts[at]?.url ?? '', bytes.subarray(from * size, (from + 1) * size));
  expect((await send(2)).status).toBe(204);
  expect((await send(0, 2)).status).toBe(400);
  expect((await put(service, upload_url, bytes)).status).toBe(409);
  expect((await owner.call(completeMediaAsset, { params: { id }, body: {} })).status).toBe(409);
  const { upload_parts: now } = (await owner.call(renewMediaUpload, { params: { id } })).body;
  expect(now?.parts.map(({ received }) => received)).toEqual([false, false, true]);
  const answers = await Promise.all([send(0), send(1), send(0)]);
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
  const { asset } = await completed(owner, id, { sha256: sha256(bytes) });
  expect(asset).toMatchObject({ sha256: sha256(bytes), size_bytes: bytes.length, status: 'ready' });
  await eventually(async () => expect(await known(account)).toBe(3));
});

test('a file is served with ranges to whoever has its URL, and to nobody once it has expired', async () => {
  const { owner } = newLastingTenant(service);
  const { id, upload_url } = await promise(owner, file());
  await put(service, upload_url, png);
  const { asset } = await completed(owner, id);
  const url = here(service, asset.url);
  const get = (headers: Record<string, string> = {}, method = 'GET') => fetch(url, { method, headers });
  const head = await get({}, 'HEAD');
  expect([head.status, head.headers.get('content-length')]).toEqual([200, String(png.length)]);
  const ranges: [string, Buffer, string][] = [
    ['bytes=0-3', png.subarray(0, 4), `bytes 0-3/${png.length}`],
    ['bytes=5-', png.subarray(5), `bytes 5-${png.length - 1}/${png.length}`],
    ['bytes=-2', png.subarray(-2), `bytes ${png.length - 2}-${png.length - 1}/${png.length}`],
  ];
  for (const [range, wanted, said] of ranges) {
    const answer = await get({ range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, said]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(wanted)).toBe(true);
  }
  const beyond = await get({ range: `bytes=${png.length}-` });
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${png.length}`]);
  expect((await fetch(url.replace(/ticket=..../, 'ticket=xxxx'))).status).toBe(403);
  expect((await put(service, asset.url ?? '', png)).status).toBe(404);
  const later = (await owner.call(getMediaAsset, { params: { id } })).body;
  service.clock.advance({ days: 1 });
  expect((await get()).status).toBe(403);
  const fresh = (await owner.call(getMediaAsset, { params: { id } })).body;
  expect(Date.parse(fresh.urls_expire_at ?? '')).toBeGreaterThan(Date.parse(later.urls_expire_at ?? ''));
  expect((await fetch(here(service, fresh.url))).status).toBe(200);
});

test('204: two assets of one content share its object, which goes with the last of them', async () => {
  const { owner, account } = newLastingTenant(service);
  const made = await Promise.all(
    [1, 2].map(async () => {
      const { id, upload_url } = await promise(owner, file());
      await put(service, upload_url, png);
      return (await completed(owner, id)).asset;
    }),
  );
  await eventually(async () => expect(await known(account)).toBe(5));
  const [first, second] = made;
  expect((await owner.call(deleteMediaAsset, { params: { id: first?.id ?? '' } })).status).toBe(204);
  expect((await owner.call(getMediaAsset, { params: { id: first?.id ?? '' } })).status).toBe(404);
  expect((await fetch(here(service, second?.url ?? null))).status).toBe(200);
  await owner.call(deleteMediaAsset, { params: { id: second?.id ?? '' } });
  await nothingIsLeft(account);
  expect((await fetch(here(service, second?.url ?? null))).status).toBe(404);
});

test('404: no analysis before there is one; an upload that never came is deleted after a day', async () => {
  const { owner, account } = newLastingTenant(service);
  const { id, upload_url } = await promise(owner, file());
  await put(service, upload_url, png);
  expect((await owner.call(getMediaAnalysis, { params: { id } })).status).toBe(404);
  service.clock.advance({ minutes: 25 * 60 });
  const other = await promise(owner, file());
  await owner.call(deleteMediaAsset, { params: { id: other.id } }); // Wakes the sweeper.
  await eventually(async () => expect((await owner.call(getMediaAsset, { params: { id } })).status).toBe(404));
  await nothingIsLeft(account);
});

test('a list is filtered by library, status, kind, hash and name; what is unknown matches nothing', async () => {
  const { owner } = newLastingTenant(service);
  const one = await promise(owner, file({ filename: 'Summer.PNG', sha256: sha256(png) }));
  const two = await promise(owner, file({ filename: 'winter.mp4' }));
  const ids = async (query: object) =>
    (await owner.call(listMediaAssets, { query: query as never })).body.entries.map(({ id }) => id);
  expect(await ids({})).toEqual([two.id, one.id]);
  expect(await ids({ media_library_ids: one.media_library_id })).toEqual([one.id]);
  expect(await ids({ media_library_ids: newId('media_library') })).toEqual([]);
  expect(await ids({ status: 'awaiting_upload,ready', kind: 'video' })).toEqual([two.id]);
  expect(await ids({ status: 'ready' })).toEqual([]);
  expect(await ids({ sha256: sha256(png) })).toEqual([one.id]);
  expect(await ids({ query: 'mmer.p' })).toEqual([one.id]);
});

test('the store is empty of what was refused, whatever the database knows', async () => {
  const { rows } = await service.db.query<{ key: string }>('SELECT key FROM stored_objects');
  const names = new Set(rows.map(({ key }) => key.slice(key.lastIndexOf('/') + 1)));
  expect((await objectsIn(service.mediaDirectory)).filter((name) => !names.has(name))).toEqual([]);
});
