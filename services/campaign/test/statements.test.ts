import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import {
  countRecords,
  countStatements,
  internalToken,
  numbersOf,
  oneRecordEach,
  type StatementTable,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant } from './support.ts';
import { announce, newInstallation, newLocation, newScreen } from './support-estate.ts';
import { startAmongNeighbours } from './support-neighbours.ts';
import { writePublished } from './support-published.ts';
import { statementsOfMedia } from './support-statements-media.ts';
import { newAd, newAdLibrary, newAsset, newStudio } from './support-studio.ts';

let service: TestService;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ service, stop } = await startAmongNeighbours());
});
afterAll(() => stop());

/** Adds one ad to each campaign of the account, for so many tags. */
async function addAds(account: string, count: number): Promise<void> {
  const { ad } = await newAd(service, account);
  await service.db.query(
    `INSERT INTO campaign_ads (id, campaign_id, ad_id, screen_tag, position, created_at)
     SELECT 'cad_' || uuidv7(), id, $3, 'tag-' || n, n, now()
     FROM campaigns, generate_series(1, $2::int) AS n WHERE account_id = $1`,
    [account, count, ad],
  );
}

/** Creates a campaign with this many ads. */
async function planned(ads: number) {
  const tenant = newTenant(service);
  const campaign = await tenant.campaign();
  await addAds(tenant.account, ads);
  return { ...tenant, params: { id: campaign.id } };
}

/** An account with so many ads, of which the last is given. */
async function withAds(rows: number) {
  const tenant = newTenant(service);
  const made: Awaited<ReturnType<typeof newAd>>[] = [];
  for (let n = 0; n < rows; n++) made.push(await newAd(service, tenant.account));
  return { ...tenant, params: { id: made.at(-1)?.ad ?? '' } };
}

/** A draft that reaches so many screens. */
const reaching = async (rows: number) => (await newStudio(service)).planned(rows);

/** The same, published. */
async function published(rows: number) {
  const planned = await reaching(rows);
  await planned.owner.call(contracts.publishCampaign, { params: planned.params });
  return planned;
}

/** The same, with a draft again. */
async function revised(rows: number) {
  const planned = await published(rows);
  await planned.owner.call(contracts.reviseCampaign, { params: planned.params });
  return planned;
}

const table: StatementTable = {
  ...statementsOfMedia(() => service),
  list_ads: {
    statements: 1,
    async prepare(rows) {
      const { owner } = await withAds(rows);
      return () => owner.call(contracts.listAds, { query: { query: 'spring' } });
    },
  },
  create_ad: {
    statements: 6,
    async prepare() {
      const { account, owner } = newTenant(service);
      const [ad_library_id, media_asset_id] = [await newAdLibrary(service, account), await newAsset(service, account)];
      return () => owner.call(contracts.createAd, { body: { ad_library_id, media_asset_id } });
    },
  },
  get_ad: {
    statements: 1,
    async prepare(rows) {
      const { owner, params } = await withAds(rows);
      return () => owner.call(contracts.getAd, { params });
    },
  },
  /** To another library, which has to exist. */
  update_ad: {
    statements: 6,
    async prepare(rows) {
      const { owner, account, params } = await withAds(rows);
      const body = { ad_library_id: await newAdLibrary(service, account) };
      return () => owner.call(contracts.updateAd, { params, body });
    },
  },
  delete_ad: {
    statements: 6,
    async prepare(rows) {
      const { owner, params } = await withAds(rows);
      return () => owner.call(contracts.deleteAd, { params });
    },
  },
  get_ad_profile: {
    statements: 2,
    async prepare(rows) {
      const { owner, params } = await withAds(rows);
      await owner.call(contracts.replaceAdProfile, { params, body: {} });
      return () => owner.call(contracts.getAdProfile, { params });
    },
  },
  replace_ad_profile: {
    statements: 5,
    async prepare(rows) {
      const { owner, params } = await withAds(rows);
      return () => owner.call(contracts.replaceAdProfile, { params, body: {} });
    },
  },
  delete_ad_profile: {
    statements: 5,
    async prepare(rows) {
      const { owner, params } = await withAds(rows);
      await owner.call(contracts.replaceAdProfile, { params, body: {} });
      return () => owner.call(contracts.deleteAdProfile, { params });
    },
  },
  set_campaign_target: {
    statements: 7,
    async prepare(rows) {
      const { owner, params, location } = await reaching(rows);
      const body = { include: { location_ids: [location.id] } };
      return () => owner.call(contracts.setCampaignTarget, { params, body });
    },
  },
  add_campaign_ad: {
    statements: 9,
    async prepare(rows) {
      const { owner, params, account } = await planned(rows);
      const body = { ad_id: (await newAd(service, account)).ad, screen_tag: 'window' };
      return () => owner.call(contracts.addCampaignAd, { params, body });
    },
  },
  update_campaign_ad: {
    statements: 7,
    async prepare(rows) {
      const { owner, params, campaignAd } = await reaching(rows);
      const ofAd = { ...params, campaign_ad_id: campaignAd.id };
      return () => owner.call(contracts.updateCampaignAd, { params: ofAd, body: { position: 3 } });
    },
  },
  remove_campaign_ad: {
    statements: 7,
    async prepare(rows) {
      const { owner, params, campaignAd } = await reaching(rows);
      const ofAd = { ...params, campaign_ad_id: campaignAd.id };
      return () => owner.call(contracts.removeCampaignAd, { params: ofAd });
    },
  },
  validate_campaign: {
    statements: 3,
    async prepare(rows) {
      const { owner, params } = await reaching(rows);
      return () => owner.call(contracts.validateCampaign, { params });
    },
  },
  /** A second version, which ends the first. */
  publish_campaign: {
    statements: 13,
    async prepare(rows) {
      const { owner, params } = await revised(rows);
      await owner.call(contracts.updateCampaign, { params, body: { name: 'Other' } });
      return () => owner.call(contracts.publishCampaign, { params });
    },
  },
  revise_campaign: {
    statements: 7,
    async prepare(rows) {
      const { owner, params } = await published(rows);
      return () => owner.call(contracts.reviseCampaign, { params });
    },
  },
  discard_campaign_draft: {
    statements: 12,
    async prepare(rows) {
      const { owner, params } = await revised(rows);
      return () => owner.call(contracts.discardCampaignDraft, { params });
    },
  },
  archive_campaign: {
    statements: 10,
    async prepare(rows) {
      const { owner, params } = await published(rows);
      return () => owner.call(contracts.archiveCampaign, { params });
    },
  },
  list_campaign_versions: {
    statements: 2,
    async prepare(rows) {
      const { owner, params } = await published(1);
      await service.db.query(
        `INSERT INTO campaign_versions SELECT campaign_id, version + n, account_id, 'superseded', published_at, published_by,
           now(), content_hash, ad_count, screen_count, snapshot, validation
         FROM campaign_versions, generate_series(1, $2::int - 1) AS n WHERE campaign_id = $1`,
        [params.id, rows],
      );
      return () => owner.call(contracts.listCampaignVersions, { params });
    },
  },
  get_campaign_version: {
    statements: 2,
    async prepare(rows) {
      const { owner, params } = await published(rows);
      return () => owner.call(contracts.getCampaignVersion, { params: { ...params, version: '1' } as never });
    },
  },
  list_campaign_placements: {
    statements: 2,
    async prepare(rows) {
      const { owner, params } = await published(rows);
      return () => owner.call(contracts.listCampaignPlacements, { params });
    },
  },
  list_campaign_scores: {
    statements: 2,
    async prepare(rows) {
      const { owner, params, account } = await planned(rows);
      await service.db.query(
        `INSERT INTO scores (id, account_id, campaign_id, campaign_ad_id, ad_id, job_id, model, heuristic, signature, score,
           components, created_at)
         SELECT 'sco_' || uuidv7(), $2, campaign_id, id, ad_id, 'job_' || uuidv7(), 'heuristic-1', true, '', 50, '[]', now()
         FROM campaign_ads WHERE campaign_id = $1`,
        [params.id, account],
      );
      return () => owner.call(contracts.listCampaignScores, { params });
    },
  },
  /** Without the work of the job. */
  score_campaign: {
    statements: 19,
    async prepare(rows) {
      const { owner, params } = await reaching(rows);
      return () => owner.call(contracts.scoreCampaign, { params });
    },
  },
  list_campaigns: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      await Promise.all(Array.from({ length: rows }, () => tenant.campaign()));
      await addAds(tenant.account, 2);
      return () => tenant.owner.call(contracts.listCampaigns, { query: { status: 'draft,published' } });
    },
  },
  /** In a group: checking that it exists is one of the statements. */
  create_campaign: {
    statements: 6,
    async prepare() {
      const tenant = newTenant(service);
      const body = { name: 'New', group_id: await tenant.group() };
      return () => tenant.owner.call(contracts.createCampaign, { body });
    },
  },
  get_campaign: {
    statements: 3,
    async prepare(rows) {
      const { owner, params } = await reaching(rows);
      return () => owner.call(contracts.getCampaign, { params });
    },
  },
  /** Moves the campaign to a group: checking that it exists is one of the statements. */
  update_campaign: {
    statements: 7,
    async prepare(rows) {
      const tenant = await planned(rows);
      const body = { name: 'Other', group_id: await tenant.group() };
      return () => tenant.owner.call(contracts.updateCampaign, { params: tenant.params, body });
    },
  },
  list_published_versions: {
    statements: 1,
    async prepare(rows) {
      const account = newId('account');
      for (let n = 0; n < rows; n++) await writePublished(service, account, []);
      const events = service.client.with({ token: internalToken('events', 'campaign') });
      return async () => {
        const { status, body } = await events.call(contracts.listPublishedVersions, { query: { account_id: account } });
        return { status, body: body.entries };
      };
    },
  },
  find_campaigns_in_sight: {
    statements: 1,
    async prepare(rows) {
      const { account, campaign } = newTenant(service);
      const ids = await Promise.all(Array.from({ length: rows }, async () => (await campaign()).id));
      const events = service.client.with({ token: internalToken('events', 'campaign') });
      const body = { account_id: account, caller_id: newId('user'), group_ids: null, ids };
      return () => events.call(contracts.findCampaignsInSight, { body });
    },
  },
  /** Of a manifest that is the last one, with so many campaigns on the screen. */
  get_device_manifest: {
    statements: 2,
    async prepare(rows) {
      const [account, where] = [newId('account'), newLocation()];
      const [screen, estate] = [newScreen(where), announce(service, account)];
      const { device_id, ...installation } = newInstallation(where, [screen]);
      await estate.location(where);
      await estate.screen(screen);
      await estate.installation({ ...installation, device_id });
      for (let n = 0; n < rows; n++) await writePublished(service, account, [screen], { start_date: '2999-01-01' });
      const device = service.client.with({ token: internalToken('device', 'campaign') });
      const ask = () => device.call(contracts.getDeviceManifest, { params: { device_id } });
      await ask();
      return ask;
    },
  },
};

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'campaign', table, rows)).toEqual(numbersOf(table));
});

test('each endpoint that writes leaves one audit record of a success', async () => {
  expect(await countRecords(service, 'campaign', table)).toEqual(oneRecordEach('campaign'));
});
