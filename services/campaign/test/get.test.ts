import { getCampaign, listCampaigns } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, sendRaw, setStatus, startCampaign } from './support.ts';
import { newAd, newAsset } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

/** With a score, which endpoints do not set directly. */
async function placeAd(
  account: string,
  campaignId: string,
  ad: { tag: string; position: number; score: number | null },
): Promise<string> {
  const id = newId('campaign_ad');
  const { ad: adId } = await newAd(service, account);
  await service.db.query(
    `INSERT INTO campaign_ads (id, campaign_id, ad_id, screen_tag, position, score, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, '2026-03-01T09:30:00.125Z')`,
    [id, campaignId, adId, ad.tag, ad.position, ad.score],
  );
  return id;
}

const noScreen = expect.objectContaining({ code: 'no_screen', severity: 'warning' });
const unscored = (tag: string) => ({
  code: 'not_scored',
  severity: 'warning',
  detail: `The ad for screens tagged ${tag} has no score yet.`,
});

test('200: a new campaign has no targets and no ads, and reports that this prevents publishing', async () => {
  const tenant = newTenant(service);
  const created = await tenant.campaign();
  const path = `/v2/campaigns/${created.id}`;
  const answer = await sendRaw(service, 'GET', path, personToken({ account: tenant.account }));
  expect(answer.status).toBe(200);
  const nowhere = { group_ids: [], location_ids: [], tags: [] };
  expect(JSON.parse(answer.text)).toEqual({
    ...created,
    target: { include: nowhere, exclude: nowhere, holdout_percent: 0 },
    ads: [],
    latest_validation: {
      status: 'error',
      error_count: 1,
      warning_count: 0,
      gates_publish: true,
      matched_screens: 0,
      matched_locations: 0,
      checks: [{ code: 'no_ads', severity: 'error', detail: 'The campaign has no ads: nothing would be shown.' }],
      ads: [],
      effectiveness_score: null,
    },
  });
});

test('200: ads are sorted by position, counted, and averaged and validated by their scores', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  const second = await placeAd(tenant.account, id, { tag: 'window', position: 2, score: null });
  const first = await placeAd(tenant.account, id, { tag: 'entrance', position: 1, score: 60.5 });
  const third = await placeAd(tenant.account, id, { tag: 'checkout', position: 2, score: 80 });
  const { body } = await tenant.owner.call(getCampaign, { params: { id } });
  expect(body).toMatchObject({ total_ad_count: 3, scored_ad_count: 2, campaign_score: 70.25 });
  expect(body.ads.map((ad) => [ad.id, ad.screen_tag, ad.position, ad.score])).toEqual([
    [first, 'entrance', 1, 60.5],
    [second, 'window', 2, null],
    [third, 'checkout', 2, 80],
  ]);
  expect(body.ads[0]?.created_at).toBe('2026-03-01T09:30:00.125Z');
  // Nothing is reached yet, so each ad says so, and the campaign too.
  expect(body.latest_validation).toMatchObject({
    status: 'error',
    error_count: 1,
    warning_count: 4,
    checks: [{ code: 'no_placement' }],
    ads: [
      { campaign_ad_id: first, checks: [noScreen], score: 60.5 },
      { campaign_ad_id: second, checks: [noScreen, unscored('window')], score: null },
      { campaign_ad_id: third, checks: [noScreen], score: 80 },
    ],
    effectiveness_score: 70.25,
  });
  const [listed] = (await tenant.owner.call(listCampaigns)).body.data;
  expect(listed).toMatchObject({ id, total_ad_count: 3, scored_ad_count: 2, campaign_score: 70.25 });
});

test('200: with all ads scored nothing asks for a score, and a score of 0 counts', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  await placeAd(tenant.account, id, { tag: 'a', position: 1, score: 0 });
  await placeAd(tenant.account, id, { tag: 'b', position: 2, score: 50 });
  const { body } = await tenant.owner.call(getCampaign, { params: { id } });
  expect(body).toMatchObject({ total_ad_count: 2, scored_ad_count: 2, campaign_score: 25 });
  expect(JSON.stringify(body.latest_validation)).not.toContain('not_scored');
});

test('200: with no ad scored there is no score', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  await placeAd(tenant.account, id, { tag: 'a', position: 1, score: null });
  const { body } = await tenant.owner.call(getCampaign, { params: { id } });
  expect(body).toMatchObject({ total_ad_count: 1, scored_ad_count: 0, campaign_score: null });
  expect(body.latest_validation).toMatchObject({ effectiveness_score: null });
});

test('200: fields that other steps have set are shown as stored', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.campaign();
  await setStatus(service, id, 'published');
  const cover = await newAsset(service, tenant.account);
  const group = newId('group');
  const include = { group_ids: [group], location_ids: [], tags: ['window'] };
  const target = { include, exclude: { group_ids: [], location_ids: [], tags: [] }, holdout_percent: 12 };
  await service.db.query(
    `UPDATE campaigns SET screen_count = 7, media_asset_id = $2, scored_signature = 'abc', current_version = 4, target = $3 WHERE id = $1`,
    [id, cover, JSON.stringify(target)],
  );
  const { body } = await tenant.owner.call(getCampaign, { params: { id } });
  expect(body).toMatchObject({
    status: 'published',
    current_version: 4,
    screen_count: 7,
    estimated_locations: 0,
    media_asset_id: cover,
    scored_signature: 'abc',
    target,
  });
});

test('404: an unknown or malformed id, and a campaign of another account or group, get the same response byte for byte', async () => {
  const tenant = newTenant(service);
  const others = (await newTenant(service).campaign()).id;
  const [held, notHeld] = [await tenant.group(), await tenant.group()];
  const hidden = (await tenant.campaign({ group_id: notHeld })).id;
  const ungrouped = (await tenant.campaign()).id;
  const groups = { [held]: 'a' };
  const token = personToken({ account: tenant.account, role: 'member', group_scope: 'selected', groups });
  const ids = [newId('campaign'), others, hidden, ungrouped, newId('group'), 'x', '%00', `${hidden}0`];
  for (const [method, body] of [['GET'], ['PATCH', '{"name":"Mine"}']] as const) {
    const answers = await Promise.all(ids.map((id) => sendRaw(service, method, `/v2/campaigns/${id}`, token, body)));
    expect(answers[0]?.status).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  }
  const { rows } = await service.db.query(`SELECT id FROM campaigns WHERE name = 'Mine'`);
  expect(rows).toEqual([]);
});
