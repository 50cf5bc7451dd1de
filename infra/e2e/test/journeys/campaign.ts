import {
  addCampaignAd,
  archiveCampaign,
  type Client,
  createAd,
  createAdLibrary,
  createCampaign,
  createMediaLibrary,
  createScreen,
  createTokenHold,
  deleteAd,
  deleteMediaAsset,
  getBalance,
  getCampaign,
  getDeviceManifest,
  getInstallation,
  getMediaAnalysis,
  getUsagePrice,
  listCampaignPlacements,
  listCampaignScores,
  listCampaignVersions,
  listLedger,
  publishCampaign,
  replaceAdProfile,
  reviseCampaign,
  scoreCampaign,
  setCampaignTarget,
  updateAd,
  updateCampaign,
  updateScreen,
  validateCampaign,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { untilEnded } from '../../upload.ts';
import { files, hashOf, uploadFile } from '../support-campaign.ts';
import { newTree } from '../support-estate.ts';
import { newOwner, type Platform } from '../support-platform.ts';

/** From a picture and a film to what a device plays, and to its end. */
export function campaignJourney(on: () => Platform): void {
  /** A shop with a player on a landscape screen at its entrance, and a portrait pillar next to it without one. */
  async function newShop(client: Client) {
    const tree = await newTree(client);
    await client.call(updateScreen, { params: { id: tree.screen }, body: { tags: ['entrance'] } });
    const pillar = { zone_id: tree.zone, name: 'Pillar', width_px: 1080, height_px: 1920 };
    await client.call(createScreen, { body: { ...pillar, tags: ['entrance', 'pillar'] } });
    const { device_id } = (await client.call(getInstallation, { params: { id: tree.installation } })).body;
    return { group_id: tree.group, location_id: tree.location, screen_id: tree.screen, device_id };
  }

  async function newAds(client: Client) {
    const media_library_id = (await client.call(createMediaLibrary, { body: { name: 'Summer' } })).body.id;
    const ad_library_id = (await client.call(createAdLibrary, { body: { name: 'Summer' } })).body.id;
    const [picture, film] = await Promise.all([
      uploadFile(client, media_library_id, files.picture),
      uploadFile(client, media_library_id, files.film),
    ]);
    const make = async (media_asset_id: string) =>
      (await client.call(createAd, { body: { ad_library_id, media_asset_id } })).body;
    return { picture, film, ads: [await make(picture.id), await make(film.id)] as const };
  }

  test('a picture and a film become ads, are checked and scored, and play on the screens that they fit until they are archived', async () => {
    const { client, account_id } = await newOwner(on());
    const account = { params: { id: account_id } };
    const shop = await newShop(client);
    const { picture, film, ads } = await newAds(client);
    expect([picture, film]).toMatchObject([
      { status: 'ready', kind: 'image', probe: { mime: 'image/png', width: 1920, height: 1080, colour: 'srgb' } },
      { status: 'ready', kind: 'video', probe: { mime: 'video/mp4', codec: 'h264', duration_ms: 1_000 } },
    ]);
    expect(await hashOf(picture.url)).toBe(picture.sha256);
    expect(await hashOf(picture.thumbnail_url)).not.toBe(picture.sha256);
    const analysis = (await client.call(getMediaAnalysis, { params: { id: picture.id } })).body;
    expect(analysis).toMatchObject({ technical: { decode: 'complete' }, look: { contrast: expect.any(Number) } });
    const audience = { audience: { age_from: 20, age_to: 40, interests: ['running'] } };
    const profile = await client.call(replaceAdProfile, { params: { id: ads[0].id }, body: audience });
    expect(profile.body).toMatchObject({ ad_id: ads[0].id, dayparts: [] });

    const { id } = (await client.call(createCampaign, { body: { name: 'Summer', brief: { product: 'Shoes' } } })).body;
    const params = { id };
    await client.call(updateCampaign, { params, body: { media_asset_id: picture.id } });
    for (const { id: ad_id } of ads)
      await client.call(addCampaignAd, { params, body: { ad_id, screen_tag: 'entrance' } });
    const aim = (exclude: object) =>
      client.call(setCampaignTarget, { params, body: { include: { location_ids: [shop.location_id] }, exclude } });
    await eventually(async () => expect((await aim({})).status).toBe(200));

    // The picture fits the screen at the entrance, and not the pillar.
    const check = async () => (await client.call(validateCampaign, { params })).body;
    await eventually(async () => expect((await check()).matched_screens).toBe(2));
    const refused = await check();
    expect(refused).toMatchObject({ status: 'error', gates_publish: true, matched_locations: 1 });
    const [ofPicture] = refused.ads;
    const kindOf = (width: number) => ofPicture?.screen_kinds.findIndex(({ width_px }) => width_px === width) ?? -1;
    expect(ofPicture?.checks.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code: 'aspect_ratio', screen_kind: kindOf(1080), limit: 0.25 },
    ]);
    expect(ofPicture?.screen_kinds[kindOf(1920)]?.status).not.toBe('error');
    expect((await client.call(publishCampaign, { params })).problem?.detail).toContain('aspect_ratio');
    await aim({ tags: ['pillar'] });
    expect(await check()).toMatchObject({ error_count: 0, matched_screens: 1 });

    // Scored for the price of two ads, once.
    const price = await on()
      .inside('billing', 'campaign')
      .call(getUsagePrice, { params: { action: 'score_ad' } });
    const cost = 2 * price.body.token_amount;
    const before = (await client.call(getBalance, account)).body;
    const begun = (await client.call(scoreCampaign, { params })).body;
    const scoring = await untilEnded(client, begun.job_id);
    expect(scoring).toMatchObject({ status: 'succeeded', subject_id: id, hold_id: expect.stringMatching(/^hld_/) });
    const after = (await client.call(getBalance, account)).body;
    expect(after).toMatchObject({ posted: before.posted - cost, held: 0, available: before.available - cost });
    const [captured, ...earlier] = (await client.call(listLedger, account)).body.entries;
    expect(captured).toMatchObject({ kind: 'capture', amount: -cost, balance_after: after.posted });
    expect(earlier).toMatchObject([{ kind: 'grant' }]);
    const scores = (await client.call(listCampaignScores, { params })).body.entries;
    expect(scores.map(({ ad_id }) => ad_id).toSorted()).toEqual(ads.map((ad) => ad.id).toSorted());
    expect((await client.call(scoreCampaign, { params })).status).toBe(409);

    // Other work holds all tokens but one.
    const hold = { account_id, amount: after.available - 1, idempotency_key: id, description: 'Other work' };
    await on()
      .inside('account', 'campaign')
      .call(createTokenHold, { body: { ...hold, expires_in: '1h' } });
    await client.call(updateCampaign, { params, body: { brief: { objective: 'More runners in the shop' } } });
    expect((await client.call(scoreCampaign, { params })).problem?.kind).toBe('insufficient-balance');
    expect((await client.call(getBalance, account)).body).toMatchObject({ posted: after.posted, available: 1 });

    const published = (await client.call(publishCampaign, { params })).body;
    expect(published).toMatchObject({ status: 'published', live_version: 1, screen_count: 1, scored_ad_count: 2 });
    const placements = async () => (await client.call(listCampaignPlacements, { params })).body.entries;
    const place = { screen_id: shop.screen_id, location_id: shop.location_id, version: 1 };
    const live = { ...place, status: 'live', valid_to: null };
    expect(await placements()).toMatchObject([live, live]);
    expect((await client.call(deleteMediaAsset, { params: { id: picture.id } })).status).toBe(409);

    // The player of the entrance has both files, by URLs of its own.
    const manifest = async () => {
      const inside = on().inside('campaign', 'device');
      return (await inside.call(getDeviceManifest, { params: { device_id: shop.device_id } })).body;
    };
    const order = published.ads.map((ad) => ad.id);
    await eventually(async () =>
      expect((await manifest()).screens).toMatchObject([
        {
          screen_id: shop.screen_id,
          output: 'HDMI-1',
          slots: [{ start_at: null, end_at: null, campaign_ad_ids: order }],
        },
      ]),
    );
    const first = await manifest();
    expect(first).toMatchObject({ location_id: shop.location_id, timezone: 'Europe/Zurich', holdouts: [] });
    expect(first.files.map(({ sha256 }) => sha256)).toEqual([picture.sha256, film.sha256].toSorted());
    for (const { url, sha256 } of first.files) expect(await hashOf(url)).toBe(sha256);

    // A new version is published only when something differs. What plays is what was frozen, until then.
    await client.call(reviseCampaign, { params });
    expect((await client.call(publishCampaign, { params })).status).toBe(409);
    await client.call(updateAd, { params: { id: ads[0].id }, body: { duration_ms: 7_000 } });
    expect((await manifest()).hash).toBe(first.hash);
    expect((await client.call(publishCampaign, { params })).body).toMatchObject({ live_version: 2 });
    expect(await placements()).toMatchObject([live, live]);
    const second = await manifest();
    expect(second.version).toBeGreaterThan(first.version);
    expect(second.items.find(({ ad_id }) => ad_id === ads[0].id)).toMatchObject({ version: 2, duration_ms: 7_000 });

    await client.call(archiveCampaign, { params });
    const closed = { ...place, status: 'closed', closed_by: 'archive' };
    expect(await placements()).toMatchObject([closed, closed]);
    expect((await client.call(listCampaignVersions, { params })).body.entries).toMatchObject([
      { version: 2, status: 'closed' },
      { version: 1, status: 'superseded' },
    ]);
    expect((await client.call(getCampaign, { params })).body).toMatchObject({ status: 'archived', live_version: null });
    expect(await manifest()).toMatchObject({ files: [], items: [], screens: [{ slots: [] }] });
    expect((await client.call(deleteAd, { params: { id: ads[0].id } })).status).toBe(204);
  });
}
