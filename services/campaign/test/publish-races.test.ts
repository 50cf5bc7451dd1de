import * as contracts from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startCampaign } from './support.ts';
import { livePairs, overlaps } from './support-reach.ts';
import { newStudio } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(async () => {
  expect(await overlaps(service)).toBe(0);
  await service.stop();
});

const { publishCampaign } = contracts;
const times = <T>(count: number, work: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));

test('of fifty publishes at once one makes a version, and versions have no gaps', async () => {
  const { owner, params } = await (await newStudio(service)).planned(3);
  for (const [round, count] of [50, 10, 10].entries()) {
    await owner.call(contracts.reviseCampaign, { params });
    await owner.call(contracts.updateCampaign, { params, body: { name: `Round ${round}` } });
    const statuses = (await times(count, () => owner.call(publishCampaign, { params }))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: count - 1 }, () => 409)]);
  }
  const { entries } = (await owner.call(contracts.listCampaignVersions, { params })).body;
  expect(entries.map(({ version, status }) => [version, status])).toEqual([
    [3, 'live'],
    [2, 'superseded'],
    [1, 'superseded'],
  ]);
  expect(await livePairs(service, params.id)).toHaveLength(3);
});

test('steps of all kinds at once leave a campaign in a state of the table', async () => {
  const studio = await newStudio(service);
  await times(6, async (at) => {
    const { owner, params } = await studio.planned(2);
    const steps = [
      publishCampaign,
      contracts.reviseCampaign,
      contracts.discardCampaignDraft,
      contracts.archiveCampaign,
    ];
    const calls = [...steps.slice(0, at < 3 ? 3 : 4), publishCampaign, contracts.reviseCampaign];
    const answers = await Promise.all(calls.map((step) => owner.call(step, { params })));
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const { status, live_version, current_version, screen_count } = (
      await owner.call(contracts.getCampaign, { params })
    ).body;
    const versions = (await owner.call(contracts.listCampaignVersions, { params })).body.entries;
    expect(current_version).toBe(versions[0]?.version ?? null);
    expect(live_version).toBe(status === 'archived' ? null : current_version);
    expect(versions.filter((version) => version.status === 'live')).toHaveLength(live_version === null ? 0 : 1);
    const pairs = await livePairs(service, params.id);
    expect([pairs.length, screen_count]).toEqual(live_version === null ? [0, 0] : [2, 2]);
  });
});

test('a publish against the removal and the deletion of its ad is whole or refused, and what plays has its ads', async () => {
  const studio = await newStudio(service);
  const answers = await times(8, async () => {
    const { owner, params, campaignAd } = await studio.planned(1);
    const [published] = await Promise.all([
      owner.call(publishCampaign, { params }),
      owner.call(contracts.removeCampaignAd, { params: { ...params, campaign_ad_id: campaignAd.id } }),
      owner.call(contracts.deleteAd, { params: { id: campaignAd.ad_id } }),
    ]);
    const pairs = await livePairs(service, params.id);
    expect([published.status, pairs.length]).toEqual(published.status === 200 ? [200, 1] : [422, 0]);
    return published.status;
  });
  expect(answers).toHaveLength(8);
  const { rows } = await service.db.query(
    'SELECT FROM live_ads WHERE NOT EXISTS (SELECT FROM ads WHERE ads.id = live_ads.ad_id)',
  );
  expect(rows).toEqual([]);
});

test('a publish against the loss of what its caller may see is whole, or 403; afterwards it is refused', async () => {
  const studio = await newStudio(service);
  const [held, other] = [await studio.tenant.group(), await studio.tenant.group()];
  const member = studio.tenant.narrowed([held]);
  await times(8, async () => {
    const where = await studio.location({ group_id: held });
    await studio.screen(where);
    await studio.screen(where);
    const { params } = await studio.campaign({ group_id: held }, { include: { location_ids: [where.id] } });
    const [published] = await Promise.all([
      member.call(publishCampaign, { params }),
      studio.announce.location({ ...where, group_id: other }),
    ]);
    const pairs = await livePairs(service, params.id);
    expect([published.status, pairs.length]).toEqual(published.status === 200 ? [200, 2] : [403, 0]);
    const later = published.status === 200 ? 409 : 403;
    expect((await member.call(publishCampaign, { params })).status).toBe(later);
    // Its token after the grant of this group was taken away.
    expect((await studio.tenant.narrowed([other]).call(publishCampaign, { params })).status).toBe(404);
    expect(await livePairs(service, params.id)).toEqual(pairs);
  });
});

test('publishes against changes of the estate place what is reached in the end', async () => {
  const studio = await newStudio(service);
  const planned = await studio.planned(4);
  const campaigns = [
    planned,
    ...(await times(3, () => studio.campaign({}, { include: { location_ids: [planned.location.id] } }))),
  ];
  const [first, second, third, ...others] = planned.screens;
  if (!first || !second || !third) throw new Error('There are four screens');
  const [answers] = await Promise.all([
    Promise.all(campaigns.map(({ params }) => studio.owner.call(publishCampaign, { params }))),
    studio.announce.screen({ ...first, tags: ['bar'] }),
    studio.announce.screenGone(second.id),
    studio.announce.screen({ ...third, tags: ['entrance', 'bar'] }),
  ]);
  for (const { status } of answers) expect([200, 409]).toContain(status);
  await studio.settled();
  for (const [at, { params, campaignAd }] of campaigns.entries()) {
    const expected =
      answers[at]?.status === 200 ? [third, ...others].map(({ id }) => `${campaignAd.id} ${id}`).toSorted() : [];
    expect(await livePairs(service, params.id)).toEqual(expected);
  }
});
