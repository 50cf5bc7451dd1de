import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, setStatus, startCampaign } from './support.ts';
import { newAd, newAsset, newStudio } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

const { addCampaignAd, updateCampaignAd, removeCampaignAd, setCampaignTarget, validateCampaign, updateCampaign } =
  contracts;

describe('the ads of a draft', () => {
  test('201: an ad comes after the others, with its tag normalized, and is in the campaign', async () => {
    const tenant = newTenant(service);
    const params = { id: (await tenant.campaign()).id };
    const { ad, asset } = await newAd(service, tenant.account);
    const first = await tenant.owner.call(addCampaignAd, { params, body: { ad_id: ad, screen_tag: ' Shop  Window ' } });
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      ...{ id: first.body.id, ad_id: ad, screen_tag: 'shop-window', position: 0, score: null },
      ...{ created_at: first.body.created_at, name: 'Spring', media_asset_id: asset, duration_ms: 10_000 },
      ...{ fit: 'contain', poster_url: null },
    });
    const body = { ad_id: ad, screen_tag: 'bar', position: 7 };
    await tenant.owner.call(addCampaignAd, { params, body });
    const third = await tenant.owner.call(addCampaignAd, { params, body: { ad_id: ad, screen_tag: 'door' } });
    expect(third.body.position).toBe(8);
    const last = { ad_id: ad, screen_tag: 'exit', position: 9_999 };
    await tenant.owner.call(addCampaignAd, { params, body: last });
    const again = await tenant.owner.call(addCampaignAd, { params, body: { ad_id: ad, screen_tag: 'stairs' } });
    expect(again.body.position).toBe(9_999);
    const { ads } = (await tenant.owner.call(contracts.getCampaign, { params })).body;
    expect(ads.map(({ screen_tag }) => screen_tag)).toEqual(['shop-window', 'bar', 'door', 'exit', 'stairs']);
  });

  test('200: a change of the tag, and of it alone, takes the score away', async () => {
    const studio = await newStudio(service);
    const { owner, params, campaignAd } = await studio.planned(1);
    await service.db.query('UPDATE campaign_ads SET score = 70 WHERE id = $1', [campaignAd.id]);
    const ofAd = { ...params, campaign_ad_id: campaignAd.id };
    const change = (body: object) => owner.call(updateCampaignAd, { params: ofAd, body });
    expect((await change({ position: 3 })).body).toEqual({ ...campaignAd, position: 3, score: 70 });
    expect((await change({ screen_tag: 'Entrance' })).body.score).toBe(70);
    const moved = { ...campaignAd, position: 3, screen_tag: 'bar', score: null };
    expect((await change({ screen_tag: 'bar' })).body).toEqual(moved);
    expect((await change({ position: 10_000 })).status).toBe(400);
    expect((await change({ ad_id: campaignAd.ad_id })).status).toBe(400);
    expect((await owner.call(contracts.getCampaign, { params })).body.ads).toEqual([moved]);
    expect((await owner.call(removeCampaignAd, { params: ofAd })).status).toBe(204);
    expect((await owner.call(removeCampaignAd, { params: ofAd })).status).toBe(404);
    expect((await change({})).status).toBe(404);
  });

  test('409: the same ad for the same tag, added or changed to', async () => {
    const studio = await newStudio(service);
    const { owner, params, campaignAd } = await studio.planned(1);
    const { ad_id } = campaignAd;
    const twice = await owner.call(addCampaignAd, { params, body: { ad_id, screen_tag: 'ENTRANCE' } });
    expect(twice.problem?.kind).toBe('conflict');
    const { body } = await owner.call(addCampaignAd, { params, body: { ad_id, screen_tag: 'bar' } });
    const other = { ...params, campaign_ad_id: body.id };
    const changed = await owner.call(updateCampaignAd, { params: other, body: { screen_tag: 'entrance' } });
    expect(changed.problem?.kind).toBe('conflict');
  });

  test('422: an ad that is not there for the caller, and the hundred and first', async () => {
    const tenant = newTenant(service);
    const params = { id: (await tenant.campaign()).id };
    const others = await newAd(service, newTenant(service).account);
    for (const ad_id of [newId('ad'), others.ad]) {
      const refused = await tenant.owner.call(addCampaignAd, { params, body: { ad_id, screen_tag: 'bar' } });
      expect(refused.problem).toMatchObject({ kind: 'unprocessable', detail: expect.stringContaining(ad_id) });
    }
    const { ad } = await newAd(service, tenant.account);
    await service.db.query(
      `INSERT INTO campaign_ads (id, campaign_id, ad_id, screen_tag, position, created_at)
       SELECT 'cad_' || uuidv7(), $1, $2, 'tag-' || n, n, now() FROM generate_series(1, 99) AS n`,
      [params.id, ad],
    );
    const answers = await Promise.all(
      ['a', 'b'].map((screen_tag) => tenant.owner.call(addCampaignAd, { params, body: { ad_id: ad, screen_tag } })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422]);
  });

  test('409: of twenty that add the same at once, one does', async () => {
    const tenant = newTenant(service);
    const params = { id: (await tenant.campaign()).id };
    const body = { ad_id: (await newAd(service, tenant.account)).ad, screen_tag: 'bar' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => tenant.owner.call(addCampaignAd, { params, body })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
  });
});

describe('the target of a draft', () => {
  test('200: it is replaced as a whole; what is left out is empty', async () => {
    const studio = await newStudio(service);
    const { owner, params, location } = await studio.planned(1);
    const include = { group_ids: [studio.group], location_ids: [location.id], tags: [' Flag Ship'] };
    const full = { include, exclude: { tags: ['dark'] }, holdout_percent: 10 };
    const nothing = { group_ids: [], location_ids: [], tags: [] };
    const set = await owner.call(setCampaignTarget, { params, body: full });
    const target = {
      include: { ...include, tags: ['flag-ship'] },
      exclude: { ...nothing, tags: ['dark'] },
      holdout_percent: 10,
    };
    expect([set.status, set.body]).toEqual([200, target]);
    expect((await owner.call(contracts.getCampaign, { params })).body.target).toEqual(target);
    const emptied = await owner.call(setCampaignTarget, { params, body: {} });
    expect(emptied.body).toEqual({ include: nothing, exclude: nothing, holdout_percent: 0 });
    expect((await owner.call(contracts.getCampaign, { params })).body.estimated_locations).toBe(0);
  });

  test('422: groups and locations that do not exist for the caller are named, wherever they are', async () => {
    const studio = await newStudio(service);
    const { params, location } = await studio.planned(1);
    const held = await studio.tenant.group();
    const unknown = [{ group_ids: [newId('group')] }, { location_ids: [newId('location')] }];
    for (const selection of unknown)
      for (const body of [{ include: selection }, { exclude: selection }]) {
        const refused = await studio.owner.call(setCampaignTarget, { params, body });
        const [id] = Object.values(selection).flat();
        expect(refused.problem).toMatchObject({ kind: 'unprocessable', detail: expect.stringContaining(id as string) });
      }
    const mine = { id: (await studio.tenant.campaign({ group_id: held })).id };
    const member = studio.tenant.narrowed([held]);
    for (const include of [{ location_ids: [location.id] }, { group_ids: [studio.group] }])
      expect((await member.call(setCampaignTarget, { params: mine, body: { include } })).status).toBe(422);
    expect(
      (await member.call(setCampaignTarget, { params: mine, body: { include: { group_ids: [held] } } })).status,
    ).toBe(200);
    expect((await member.call(setCampaignTarget, { params, body: {} })).status).toBe(404);
  });

  const id = newId('group');
  test.each<[object]>([
    [{ include: { group_ids: [id, id] } }],
    [{ include: { tags: ['a', 'A'] } }],
    [{ exclude: { tags: Array.from({ length: 51 }, (_, n) => `t${n}`) } }],
    [{ include: { location_ids: ['x'] } }],
    [{ holdout_percent: 12.5 }],
    [{ holdout_percent: 101 }],
    [{ include: null }],
  ])('400: %j', async (body) => {
    const tenant = newTenant(service);
    const params = { id: (await tenant.campaign()).id };
    expect((await tenant.owner.call(setCampaignTarget, { params, body: body as object })).status).toBe(400);
  });
});

test('the cover is an asset that is ready: 422 for one that is not there, 409 for one that is not ready, null for none', async () => {
  const tenant = newTenant(service);
  const params = { id: (await tenant.campaign()).id };
  const cover = (media_asset_id: string | null) =>
    tenant.owner.call(updateCampaign, { params, body: { media_asset_id } });
  const asset = await newAsset(service, tenant.account);
  expect((await cover(asset)).body).toMatchObject({ media_asset_id: asset, poster_url: null });
  expect((await cover(newId('media_asset'))).problem?.kind).toBe('unprocessable');
  expect((await cover(await newAsset(service, newTenant(service).account))).problem?.kind).toBe('unprocessable');
  expect((await cover(await newAsset(service, tenant.account, { status: 'processing' }))).problem?.kind).toBe(
    'conflict',
  );
  expect((await tenant.owner.call(contracts.getCampaign, { params })).body.media_asset_id).toBe(asset);
  expect((await cover(null)).body.media_asset_id).toBeNull();
});

test.each(['published', 'archived'] as const)('409: nothing of a campaign that is %s is changed', async (status) => {
  const studio = await newStudio(service);
  const { owner, params, campaignAd } = await studio.planned(1);
  await setStatus(service, params.id, status);
  const ofAd = { ...params, campaign_ad_id: campaignAd.id };
  const body = { ad_id: campaignAd.ad_id, screen_tag: 'bar' };
  const answers = [
    await owner.call(setCampaignTarget, { params, body: {} }),
    await owner.call(addCampaignAd, { params, body }),
    await owner.call(updateCampaignAd, { params: ofAd, body: { position: 1 } }),
    await owner.call(removeCampaignAd, { params: ofAd }),
  ];
  for (const answer of answers) expect(answer.problem?.detail).toContain(`The campaign is ${status}`);
  expect((await owner.call(validateCampaign, { params })).status).toBe(status === 'archived' ? 409 : 200);
});

test('a validation writes nothing, and tells each kind of screen apart', async () => {
  const studio = await newStudio(service);
  const { owner, params, location } = await studio.planned(2);
  await studio.screen(location, { width_px: 1080, height_px: 1920 });
  const tables = ['campaigns', 'campaign_ads', 'placements', 'campaign_versions', 'outbox'];
  const dump = async () => {
    const all = tables.map((name) => service.db.query(`SELECT * FROM ${name} AS row ORDER BY row::text`));
    return (await Promise.all(all)).map(({ rows }) => rows);
  };
  await studio.settled();
  const before = await dump();
  const { body } = await owner.call(validateCampaign, { params });
  expect((await owner.call(contracts.getCampaign, { params })).body.latest_validation).toEqual(body);
  expect(await dump()).toEqual(before);
  expect(body).toMatchObject({ status: 'error', gates_publish: true, matched_screens: 3, matched_locations: 1 });
  const [ad] = body.ads;
  expect(ad?.screen_kinds.map(({ width_px, screen_count, status }) => [width_px, screen_count, status])).toEqual([
    [1080, 1, 'error'],
    [1920, 2, 'warning'],
  ]);
  expect(ad?.checks.map(({ code, screen_kind }) => [code, screen_kind])).toEqual([
    ['not_scored', undefined],
    ['aspect_ratio', 0],
    ['not_installed', 0],
    ['not_installed', 1],
  ]);
});
