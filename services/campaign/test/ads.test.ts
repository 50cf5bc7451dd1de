import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, startCampaign } from './support.ts';
import { newAd, newAdLibrary, newAsset } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

const { createAd, getAd, updateAd, deleteAd, listAds, getAdProfile, replaceAdProfile, deleteAdProfile } = contracts;

/** An account with a library and an asset. */
async function furnished(asset: Parameters<typeof newAsset>[2] = {}) {
  const tenant = newTenant(service);
  const ad_library_id = await newAdLibrary(service, tenant.account);
  return { ...tenant, body: { ad_library_id, media_asset_id: await newAsset(service, tenant.account, asset) } };
}

describe('creation', () => {
  test('201: with a library and an asset alone, every other field has its default', async () => {
    const { owner, account, body } = await furnished();
    const created = await owner.call(createAd, { body });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      ...{ id: created.body.id, account_id: account, ...body, name: 'spring.png', duration_ms: 10_000, fit: 'contain' },
      ...{ muted: false, click_through: null, kind: 'image', width: 1920, height: 1080, profile_id: null },
      ...{ campaign_count: 0, poster_url: null, created_by: created.body.created_by },
      ...{ created_at: created.body.created_at, updated_at: created.body.created_at },
    });
    expect((await owner.call(getAd, { params: { id: created.body.id } })).body).toEqual(created.body);
    expect((await owner.call(listAds)).body.entries).toEqual([created.body]);
  });

  test.each([
    ['of a video: its own', { mime: 'video/mp4', duration_ms: 12_000 }, 12_000],
    ['of a long video: the longest there is', { mime: 'video/mp4', duration_ms: 600_000 }, 300_000],
    ['of a short animation: the shortest there is', { mime: 'image/gif', duration_ms: 400 }, 1_000],
  ] as const)('201: the default duration %s', async (_name, probe, duration_ms) => {
    const { owner, body } = await furnished({ probe });
    expect((await owner.call(createAd, { body })).body).toMatchObject({ duration_ms, name: 'spring.png' });
  });

  test('409: an asset that is not ready', async () => {
    const { owner, body } = await furnished({ status: 'processing' });
    expect((await owner.call(createAd, { body })).problem).toMatchObject({
      kind: 'conflict',
      detail: expect.stringContaining('processing'),
    });
  });

  test('422: a library or an asset that does not exist, is of another account, or out of sight, is named', async () => {
    const { tenant, body } = { tenant: newTenant(service), body: (await furnished()).body };
    const mine = { ad_library_id: await newAdLibrary(service, tenant.account) };
    const own = { ...mine, media_asset_id: await newAsset(service, tenant.account) };
    const group = await tenant.group();
    const cases: [object, string][] = [
      [{ ...own, ad_library_id: newId('ad_library') }, 'body.ad_library_id'],
      [{ ...own, ad_library_id: body.ad_library_id }, body.ad_library_id],
      [{ ...own, media_asset_id: newId('media_asset') }, 'body.media_asset_id'],
      [{ ...own, media_asset_id: body.media_asset_id }, body.media_asset_id],
    ];
    for (const [given, named] of cases) {
      const refused = await tenant.owner.call(createAd, { body: given as typeof own });
      expect(refused.problem).toMatchObject({ kind: 'unprocessable', detail: expect.stringContaining(named) });
    }
    expect((await tenant.narrowed([group]).call(createAd, { body: own })).status).toBe(422);
    const held = {
      ad_library_id: await newAdLibrary(service, tenant.account, group),
      media_asset_id: await newAsset(service, tenant.account, { group_id: group }),
    };
    expect((await tenant.narrowed([group]).call(createAd, { body: held })).status).toBe(201);
  });

  test.each<[object, string]>([
    [{ ad_library_id: 'x' }, 'body.ad_library_id'],
    [{ duration_ms: 999 }, 'body.duration_ms'],
    [{ duration_ms: 300_001 }, 'body.duration_ms'],
    [{ fit: 'fill' }, 'body.fit'],
    [{ click_through: { url: 'ftp://x.test/' } }, 'body.click_through.url'],
    [{ click_through: { url: `https://x.test/${'x'.repeat(2000)}` } }, 'body.click_through.url'],
    [{ click_through: { url: 'https://x.test', label: 'x'.repeat(101) } }, 'body.click_through.label'],
  ])('400: %j', async (fields, named) => {
    const { owner, body } = await furnished();
    const refused = await owner.call(createAd, { body: { ...body, ...fields } });
    expect(refused.problem).toMatchObject({ kind: 'validation-error', detail: expect.stringContaining(named) });
  });
});

test('200: a change replaces the given fields; 422: another library that is not there; 400: the asset stays', async () => {
  const { owner, account, body } = await furnished();
  const { body: ad } = await owner.call(createAd, { body });
  const params = { id: ad.id };
  const click_through = { url: 'https://shop.test/spring', label: null };
  const change = { ad_library_id: await newAdLibrary(service, account), name: 'Other', muted: true, click_through };
  service.clock.advance({ seconds: 1 });
  const changed = (await owner.call(updateAd, { params, body: change })).body;
  expect(changed).toEqual({ ...ad, ...change, updated_at: changed.updated_at });
  expect((await owner.call(getAd, { params })).body).toEqual(changed);
  const unknown = { ad_library_id: newId('ad_library') };
  expect((await owner.call(updateAd, { params, body: unknown })).status).toBe(422);
  const fixed = { media_asset_id: body.media_asset_id } as never;
  expect((await owner.call(updateAd, { params, body: fixed })).status).toBe(400);
});

test('204: an ad that no campaign needs is deleted; 409: one that is in a draft, or plays', async () => {
  const tenant = newTenant(service);
  const { ad } = await newAd(service, tenant.account);
  const params = { id: ad };
  const campaign = { id: (await tenant.campaign()).id };
  const { body } = await tenant.owner.call(contracts.addCampaignAd, {
    params: campaign,
    body: { ad_id: ad, screen_tag: 'bar' },
  });
  expect((await tenant.owner.call(getAd, { params })).body.campaign_count).toBe(1);
  expect((await tenant.owner.call(deleteAd, { params })).problem?.kind).toBe('conflict');
  const ofAd = { params: { ...campaign, campaign_ad_id: body.id } };
  await tenant.owner.call(contracts.removeCampaignAd, ofAd);
  expect((await tenant.owner.call(deleteAd, { params })).status).toBe(204);
  for (const gone of [getAd, deleteAd]) expect((await tenant.owner.call(gone, { params })).status).toBe(404);
});

test('ads are filtered by library, asset and a part of the name, newest first; ids that are unknown match nothing', async () => {
  const { owner, account } = newTenant(service);
  const [one, two] = [await newAd(service, account), await newAd(service, account)];
  await owner.call(updateAd, { params: { id: two.ad }, body: { name: '100% Sommer_Aktion' } });
  const found = async (query: Record<string, string>) =>
    (await owner.call(listAds, { query })).body.entries.map(({ id }) => id);
  expect(await found({})).toEqual([two.ad, one.ad]);
  expect(await found({ ad_library_ids: `${one.library},${newId('ad_library')}` })).toEqual([one.ad]);
  expect(await found({ media_asset_ids: two.asset })).toEqual([two.ad]);
  expect(await found({ query: '% sOMMER_' })).toEqual([two.ad]);
  expect(await found({ query: '%' })).toEqual([two.ad]);
  expect(await found({ media_asset_ids: newId('media_asset') })).toEqual([]);
});

test('404: a narrowed caller sees the ads in libraries of its groups, in lists and by id', async () => {
  const tenant = newTenant(service);
  const [held, other] = [await tenant.group(), await tenant.group()];
  const [seen, hidden] = [
    await newAd(service, tenant.account, { group_id: held }),
    await newAd(service, tenant.account, { group_id: other }),
  ];
  const member = tenant.narrowed([held]);
  expect((await member.call(listAds)).body.entries.map(({ id }) => id)).toEqual([seen.ad]);
  const params = { id: hidden.ad };
  for (const endpoint of [getAd, deleteAd, getAdProfile, deleteAdProfile])
    expect((await member.call(endpoint, { params })).status).toBe(404);
  for (const endpoint of [updateAd, replaceAdProfile])
    expect((await member.call(endpoint, { params, body: {} })).status).toBe(404);
});

describe('profiles', () => {
  test('an ad has none, then the one that was put, which is replaced as a whole, and none again', async () => {
    const { owner, account } = newTenant(service);
    const params = { id: (await newAd(service, account)).ad };
    expect((await owner.call(getAdProfile, { params })).status).toBe(404);
    expect((await owner.call(deleteAdProfile, { params })).status).toBe(404);
    const dayparts = [{ days: ['mon' as const, 'sun' as const], from: '22:00', to: '02:00' }];
    const audience = { age_from: 25, age_to: 25, interests: [' Trail  Running'], description: null };
    const put = await owner.call(replaceAdProfile, { params, body: { audience, dayparts } });
    expect(put.body).toMatchObject({ audience: { ...audience, interests: ['trail-running'] }, dayparts });
    expect((await owner.call(getAd, { params })).body.profile_id).toBe(put.body.id);
    const replaced = await owner.call(replaceAdProfile, { params, body: {} });
    expect(replaced.body).toMatchObject({
      ...{ id: put.body.id, ad_id: params.id, created_at: put.body.created_at, dayparts: [] },
      audience: { age_from: null, age_to: null, interests: [], description: null },
    });
    expect((await owner.call(getAdProfile, { params })).body).toEqual(replaced.body);
    expect((await owner.call(deleteAdProfile, { params })).status).toBe(204);
    expect((await owner.call(getAdProfile, { params })).status).toBe(404);
  });

  const daypart = { days: ['mon'], from: '08:00', to: '24:00' };
  test.each<[object, string]>([
    [{ audience: { age_from: 30, age_to: 29 } }, 'body.audience'],
    [{ audience: { age_to: 121 } }, 'body.audience.age_to'],
    [{ audience: { interests: ['a', 'A'] } }, 'body.audience.interests'],
    [{ dayparts: [{ ...daypart, to: '08:00' }] }, 'body.dayparts'],
    [{ dayparts: [{ ...daypart, from: '24:00' }] }, 'body.dayparts'],
    [{ dayparts: [{ ...daypart, days: ['mon', 'mon'] }] }, 'body.dayparts'],
    [{ dayparts: [{ ...daypart, days: [] }] }, 'body.dayparts'],
    [{ dayparts: Array.from({ length: 22 }, () => daypart) }, 'body.dayparts'],
  ])('400: %j', async (body, named) => {
    const { owner, account } = newTenant(service);
    const params = { id: (await newAd(service, account)).ad };
    const refused = await owner.call(replaceAdProfile, { params, body: body as object });
    expect(refused.problem).toMatchObject({ kind: 'validation-error', detail: expect.stringContaining(named) });
  });
});
