import { createCampaign, getCampaign, listCampaigns, updateCampaign } from '@attribution/contracts';
import { countStatements, numbersOf, type StatementTable, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

/** Adds ads to each campaign of the account. There is no endpoint for placing them yet, so this inserts the rows. */
async function addAds(account: string, count: number): Promise<void> {
  await service.db.query(
    `INSERT INTO campaign_ads (id, campaign_id, ad_id, screen_tag, position, created_at)
     SELECT 'cad_' || uuidv7(), id, 'ad_' || uuidv7(), 'entrance', n, now()
     FROM campaigns, generate_series(1, $2::int) AS n WHERE account_id = $1`,
    [account, count],
  );
}

/** Creates a campaign with this many ads. */
async function planned(ads: number) {
  const tenant = newTenant(service);
  const campaign = await tenant.campaign();
  await addAds(tenant.account, ads);
  return { ...tenant, params: { id: campaign.id } };
}

const table: StatementTable = {
  list_campaigns: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      await Promise.all(Array.from({ length: rows }, () => tenant.campaign()));
      await addAds(tenant.account, 2);
      return () => tenant.owner.call(listCampaigns, { query: { status: 'draft,published' } });
    },
  },
  /** In a group: checking that it exists is one of the statements. */
  create_campaign: {
    statements: 5,
    async prepare() {
      const tenant = newTenant(service);
      const body = { name: 'New', group_id: await tenant.group() };
      return () => tenant.owner.call(createCampaign, { body });
    },
  },
  get_campaign: {
    statements: 2,
    async prepare(rows) {
      const { owner, params } = await planned(rows);
      return () => owner.call(getCampaign, { params });
    },
  },
  /** Moves the campaign to a group: checking that it exists is one of the statements. */
  update_campaign: {
    statements: 6,
    async prepare(rows) {
      const tenant = await planned(rows);
      const body = { name: 'Other', group_id: await tenant.group() };
      return () => tenant.owner.call(updateCampaign, { params: tenant.params, body });
    },
  },
};

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'campaign', table, rows)).toEqual(numbersOf(table));
});
