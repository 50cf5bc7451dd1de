import * as contracts from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startCampaign } from './support.ts';
import { livePairs, overlaps } from './support-reach.ts';
import { newAd, newStudio } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

const { publishCampaign, reviseCampaign, archiveCampaign } = contracts;

/** All that publishing writes. */
async function stateOf(campaign: string): Promise<unknown> {
  const tables = ['campaigns', 'campaign_versions', 'placements', 'live_ads', 'campaign_ads'];
  const columns = tables.map((table) => {
    const id = table === 'campaigns' ? 'id' : 'campaign_id';
    return `(SELECT jsonb_agg(to_jsonb(${table}) ORDER BY to_jsonb(${table})::text) FROM ${table} WHERE ${id} = $1) AS ${table}`;
  });
  return (await service.db.query(`SELECT ${columns.join(', ')}`, [campaign])).rows[0];
}

test('a step whose process dies at any statement has changed nothing, and when made again leaves versions without gaps and placements whole', async () => {
  const studio = await newStudio(service);
  const { owner, account, params, campaignAd, screens } = await studio.planned(3);
  const steps = { publishCampaign, reviseCampaign, archiveCampaign };

  /** Makes the step again and again, and dies one statement later each time. Returns how often it died. */
  async function insist(name: keyof typeof steps): Promise<number> {
    for (let at = 1; ; at++) {
      const before = await stateOf(params.id);
      let status = 0;
      const died = await service.cutAt(at, async () => {
        ({ status } = await owner.call(steps[name], { params }));
      });
      expect([name, at, status]).toEqual([name, at, died ? 503 : 200]);
      if (!died) return at - 1;
      expect(await stateOf(params.id)).toEqual(before);
    }
  }
  const pairsOf = (ad: string) => screens.map(({ id }) => `${ad} ${id}`);

  expect(await insist('publishCampaign')).toBeGreaterThan(10);
  expect(await livePairs(service, params.id)).toEqual(pairsOf(campaignAd.id).toSorted());

  await insist('reviseCampaign');
  const { ad } = await newAd(service, account);
  const added = await owner.call(contracts.addCampaignAd, { params, body: { ad_id: ad, screen_tag: 'entrance' } });
  await insist('publishCampaign');
  const both = [...pairsOf(campaignAd.id), ...pairsOf(added.body.id)];
  expect(await livePairs(service, params.id)).toEqual(both.toSorted());

  expect(await insist('archiveCampaign')).toBeGreaterThan(5);
  expect(await livePairs(service, params.id)).toEqual([]);
  expect(await overlaps(service)).toBe(0);
  const { entries } = (await owner.call(contracts.listCampaignVersions, { params })).body;
  expect(entries.map(({ version, status }) => [version, status])).toEqual([
    [2, 'closed'],
    [1, 'superseded'],
  ]);
  const events = (await studio.tenant.events()).filter(({ data }) => data.campaign_id === params.id);
  expect(
    events.map(({ type, data }) => `${type} ${data.version as number}`).filter((one) => !one.startsWith('placement')),
  ).toEqual([
    ...['campaign.created undefined', 'campaign.published 1', 'campaign.revised 1'],
    ...['campaign.published 2', 'campaign.archived 2'],
  ]);
});
