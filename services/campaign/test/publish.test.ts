import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { internalToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startCampaign } from './support.ts';
import { newStudio } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

const { publishCampaign, reviseCampaign, archiveCampaign, discardCampaignDraft } = contracts;

test('200: a draft becomes version 1, is frozen, and is placed on the screens that it reaches', async () => {
  const studio = await newStudio(service);
  const { owner, account, params, screens, campaignAd } = await studio.planned(2);
  const published = await owner.call(publishCampaign, { params });
  expect(published.body).toMatchObject({
    ...{ status: 'published', current_version: 1, live_version: 1, screen_count: 2, estimated_locations: 1 },
    latest_validation: { gates_publish: false, matched_screens: 2, matched_locations: 1 },
  });
  expect((await owner.call(contracts.getCampaign, { params })).body).toEqual(published.body);

  const { body: versions } = await owner.call(contracts.listCampaignVersions, { params });
  const [version] = versions.entries;
  expect(version).toMatchObject({ version: 1, status: 'live', ended_at: null, ad_count: 1, screen_count: 2 });
  const one = { params: { ...params, version: '1' } } as never;
  const { snapshot, validation } = (await owner.call(contracts.getCampaignVersion, one)).body;
  expect(validation).toEqual(published.body.latest_validation);
  expect(snapshot).toMatchObject({ name: 'A campaign', target: published.body.target, priority: 0 });
  expect(snapshot.ads).toEqual([
    {
      ...{ campaign_ad_id: campaignAd.id, ad_id: campaignAd.ad_id, screen_tag: 'entrance', position: 0 },
      ...{ duration_ms: 10_000, fit: 'contain', muted: false, click_through: null },
      ...{ media_asset_id: campaignAd.media_asset_id, size_bytes: 48_213, mime: 'image/png' },
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);

  const { entries } = (await owner.call(contracts.listCampaignPlacements, { params })).body;
  const place = { campaign_id: params.id, campaign_ad_id: campaignAd.id, ad_id: campaignAd.ad_id, version: 1 };
  const live = { status: 'live', valid_from: version?.published_at, valid_to: null, closed_by: null };
  expect(entries).toEqual(
    screens
      .map(({ id, location_id }) => ({ ...place, screen_id: id, location_id, screen_tag: 'entrance', ...live }))
      .toSorted((a, b) => (a.screen_id < b.screen_id ? -1 : 1)),
  );
  const events = await studio.tenant.events();
  expect(events.slice(-2).map(({ type, data }) => [type, data])).toEqual([
    [
      'campaign.published',
      {
        ...{ campaign_id: params.id, account_id: account, version: 1, published_at: version?.published_at },
        ...{ content_hash: version?.content_hash, holdout_percent: 0, campaign_ad_ids: [campaignAd.id] },
      },
    ],
    ['placement.changed', { campaign_id: params.id, version: 1, opened: 2, closed: 0, at: version?.published_at }],
  ]);
  const told = events.findLast(({ type }) => type === 'campaign.published')?.data;
  const { content_hash, ...listed } = { ...told };
  const follower = service.client.with({ token: internalToken('events', 'campaign') });
  for (const query of [{ account_id: account }, { account_id: account, campaign_ad_ids: campaignAd.id }]) {
    const { body } = await follower.call(contracts.listPublishedVersions, { query });
    expect(body).toEqual({ entries: [listed], next_cursor: null });
  }
  const query = { account_id: account, campaign_ad_ids: newId('campaign_ad') };
  expect((await follower.call(contracts.listPublishedVersions, { query })).body.entries).toEqual([]);
});

test('200: the next version closes gone pairs, opens new ones, and leaves all others untouched', async () => {
  const studio = await newStudio(service);
  const { owner, params, screens, location } = await studio.planned(2);
  const [kept, gone] = screens.map(({ id }) => id);
  await owner.call(publishCampaign, { params });
  const added = await studio.screen(location, { tags: ['entrance', 'bar'] });
  await studio.settled();
  const before = (await owner.call(contracts.listCampaignPlacements, { params })).body.entries;
  expect(before.map(({ screen_id }) => screen_id).toSorted()).toEqual([kept, gone, added.id].toSorted());

  await owner.call(reviseCampaign, { params });
  await studio.announce.screen({ ...(screens[1] as (typeof screens)[number]), tags: ['entrance', 'dark'] });
  await studio.settled();
  const include = { location_ids: [location.id] };
  await owner.call(contracts.setCampaignTarget, { params, body: { include, exclude: { tags: ['dark'] } } });
  service.clock.advance({ seconds: 5 });
  // A draft changes no placement.
  expect((await owner.call(contracts.listCampaignPlacements, { params })).body.entries).toEqual(before);
  const second = await owner.call(publishCampaign, { params });
  expect(second.body).toMatchObject({ status: 'published', current_version: 2, live_version: 2, screen_count: 2 });
  const versions = (await owner.call(contracts.listCampaignVersions, { params })).body.entries;
  expect(versions.map(({ version, status }) => [version, status])).toEqual([
    [2, 'live'],
    [1, 'superseded'],
  ]);
  expect(versions[1]?.ended_at).toBe(versions[0]?.published_at);
  const after = (await owner.call(contracts.listCampaignPlacements, { params })).body.entries;
  expect(after).toEqual(
    before.map((row) =>
      row.screen_id === gone
        ? { ...row, status: 'closed', valid_to: versions[0]?.published_at, closed_by: 'publish' }
        : row,
    ),
  );
  expect((await studio.tenant.events()).at(-1)).toMatchObject({
    data: { campaign_id: params.id, version: 2, opened: 0, closed: 1 },
  });
});

test('409: what has not changed since version N, and what is not a draft, is not published', async () => {
  const { owner, params } = await (await newStudio(service)).planned(1);
  const first = await owner.call(publishCampaign, { params });
  expect((await owner.call(publishCampaign, { params })).problem?.kind).toBe('conflict');
  await owner.call(reviseCampaign, { params });
  const again = await owner.call(publishCampaign, { params });
  expect(again.problem?.detail).toContain('version 1');
  // A group and metadata are not in the hash.
  await owner.call(contracts.updateCampaign, { params, body: { metadata: { step: 9 } } });
  expect((await owner.call(publishCampaign, { params })).status).toBe(409);
  const { body } = await owner.call(contracts.getCampaign, { params });
  expect(body).toMatchObject({ status: 'draft', current_version: 1, live_version: 1 });
  await owner.call(contracts.updateCampaign, { params, body: { description: 'Other' } });
  expect((await owner.call(publishCampaign, { params })).body.current_version).toBe(2);
  expect(first.body.current_version).toBe(1);
});

test('422, then 403: an error of the validation comes before what the caller does not see, and both before 409', async () => {
  const studio = await newStudio(service);
  const [held, hidden] = [await studio.tenant.group(), await studio.tenant.group()];
  const [here, there] = [await studio.location({ group_id: held }), await studio.location({ group_id: hidden })];
  await studio.screen(here, { width_px: 1080, height_px: 1920 });
  await studio.screen(there);
  const member = studio.tenant.narrowed([held]);
  const { params } = await studio.campaign({ group_id: held }, { include: { tags: ['entrance'] } });
  const refused = await member.call(publishCampaign, { params });
  expect(refused.problem).toMatchObject({
    kind: 'unprocessable',
    detail: expect.stringContaining('aspect_ratio of cad_'),
  });
  await studio.owner.call(contracts.setCampaignTarget, {
    params,
    body: { include: { tags: ['entrance'] }, exclude: { location_ids: [here.id] } },
  });
  const { body } = await member.call(contracts.validateCampaign, { params });
  expect(body).toMatchObject({ gates_publish: false, matched_screens: 0, matched_locations: 0 });
  expect(body.checks.map(({ code }) => code)).toEqual(['target_out_of_reach']);
  expect((await member.call(publishCampaign, { params })).problem?.kind).toBe('forbidden');
  expect(await studio.tenant.events()).toHaveLength(1);
  expect((await studio.owner.call(publishCampaign, { params })).status).toBe(200);
  expect((await member.call(contracts.listCampaignPlacements, { params })).body.entries).toEqual([]);
  const all = (await studio.owner.call(contracts.listCampaignPlacements, { params })).body.entries;
  expect(all.map(({ location_id }) => location_id)).toEqual([there.id]);
});

test('a draft can be discarded: content and ads are again as they were published, with their ids', async () => {
  const studio = await newStudio(service);
  const { owner, params, campaignAd } = await studio.planned(1);
  const published = (await owner.call(publishCampaign, { params })).body;
  expect((await owner.call(discardCampaignDraft, { params })).status).toBe(409);
  await owner.call(reviseCampaign, { params });
  await owner.call(contracts.updateCampaign, { params, body: { name: 'Other', priority: 4, metadata: { step: 2 } } });
  await owner.call(contracts.setCampaignTarget, { params, body: {} });
  const at = { params: { ...params, campaign_ad_id: campaignAd.id } };
  await owner.call(contracts.removeCampaignAd, at);
  const again = { ad_id: campaignAd.ad_id, screen_tag: 'entrance' };
  await owner.call(contracts.addCampaignAd, { params, body: again });
  await owner.call(contracts.addCampaignAd, { params, body: { ...again, screen_tag: 'window' } });
  const discarded = (await owner.call(discardCampaignDraft, { params })).body;
  expect(discarded).toEqual({ ...published, metadata: { step: 2 }, updated_at: discarded.updated_at });
});

test('an archived campaign has closed placements and a closed version, and takes no further step', async () => {
  const studio = await newStudio(service);
  const { owner, params, campaignAd } = await studio.planned(1);
  await owner.call(publishCampaign, { params });
  const archived = await owner.call(archiveCampaign, { params });
  expect(archived.body).toMatchObject({ status: 'archived', current_version: 1, live_version: null, screen_count: 0 });
  const [version] = (await owner.call(contracts.listCampaignVersions, { params })).body.entries;
  expect(version).toMatchObject({ status: 'closed' });
  const [placement] = (await owner.call(contracts.listCampaignPlacements, { params })).body.entries;
  expect(placement).toMatchObject({ status: 'closed', closed_by: 'archive', valid_to: version?.ended_at });
  const events = (await studio.tenant.events()).slice(-2);
  expect(events.map(({ type }) => type)).toEqual(['campaign.archived', 'placement.changed']);
  const steps = [publishCampaign, reviseCampaign, discardCampaignDraft, archiveCampaign, contracts.validateCampaign];
  for (const step of steps) expect((await owner.call(step, { params })).status).toBe(409);
  const ofAd = { params: { ...params, campaign_ad_id: campaignAd.id } };
  expect((await owner.call(contracts.setCampaignTarget, { params, body: {} })).status).toBe(409);
  expect((await owner.call(contracts.removeCampaignAd, ofAd)).status).toBe(409);
  // Nobody needs its ad any more.
  expect((await owner.call(contracts.deleteAd, { params: { id: campaignAd.ad_id } })).status).toBe(204);
});

test('404: versions and placements of an unknown campaign, and unknown versions', async () => {
  const { owner, params } = await (await newStudio(service)).planned(1);
  const unknown = { params: { id: newId('campaign') } };
  for (const endpoint of [
    contracts.listCampaignVersions,
    contracts.listCampaignPlacements,
    publishCampaign,
    archiveCampaign,
  ])
    expect((await owner.call(endpoint, unknown)).status).toBe(404);
  for (const version of ['1', '0', 'x', '99999999999'])
    expect((await owner.call(contracts.getCampaignVersion, { params: { ...params, version } } as never)).status).toBe(
      404,
    );
});

test('placements are filtered by status, screen, location, campaign ad and instant, and come in pages', async () => {
  const studio = await newStudio(service);
  const { owner, params, screens, location, campaignAd } = await studio.planned(3);
  const { published_at = '' } =
    (await owner.call(publishCampaign, { params })) &&
    ((await owner.call(contracts.listCampaignVersions, { params })).body.entries[0] ?? {});
  service.clock.advance({ minutes: 1 });
  await studio.announce.screenGone(screens[0]?.id ?? '');
  await studio.settled();
  const count = async (query: object) =>
    (await owner.call(contracts.listCampaignPlacements, { params, query: query as never })).body.entries.length;
  const queries: [object, number][] = [
    [{ status: 'live' }, 2],
    [{ status: 'closed' }, 1],
    [{ status: 'live,closed' }, 3],
    [{ screen_ids: screens[1]?.id }, 1],
    [{ location_ids: location.id, campaign_ad_ids: campaignAd.id }, 3],
    [{ location_ids: newId('location') }, 0],
    [{ at: published_at }, 3],
    [{ at: '2020-01-01T00:00:00Z' }, 0],
    [{ at: service.clock.now().toISOString().replace('Z', '999Z') }, 2],
  ];
  for (const [query, rows] of queries) expect([query, await count(query)]).toEqual([query, rows]);
  const first = (await owner.call(contracts.listCampaignPlacements, { params, query: { limit: 2 } })).body;
  const query = { limit: 2, cursor: first.next_cursor ?? '' };
  const second = (await owner.call(contracts.listCampaignPlacements, { params, query })).body;
  const ids = [...first.entries, ...second.entries].map(({ screen_id }) => screen_id);
  expect(ids).toEqual(screens.map(({ id }) => id).toSorted());
  expect(second.next_cursor).toBeNull();
});

test('a repeated publish under one key is answered as the first, and makes one version', async () => {
  const { owner, params } = await (await newStudio(service)).planned(1);
  const headers = { 'idempotency-key': 'once' };
  const [first, second] = [
    await owner.call(publishCampaign, { params, headers }),
    await owner.call(publishCampaign, { params, headers }),
  ];
  expect([second.status, second.body]).toEqual([200, first.body]);
  expect((await owner.call(contracts.listCampaignVersions, { params })).body.entries).toHaveLength(1);
});
