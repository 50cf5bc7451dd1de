import { getBillingSummary, listPlanPrices, listUsagePrices } from '@attribution/contracts';
import { countStatements, numbersOf, type StatementTable, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startBilling } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startBilling();
});
afterAll(() => service.stop());

const table: StatementTable = {
  get_billing_summary: {
    statements: 2,
    async prepare(rows) {
      const tenant = newTenant(service);
      await tenant.open();
      await service.db.query(
        `INSERT INTO subscriptions (provider_subscription_id, account_id, plan_key, status, cancel_at_period_end, created_at)
         SELECT $1 || n, $1, 'pro', 'active', false, now() FROM generate_series(1, $2::int) AS n`,
        [tenant.account, rows],
      );
      return () => tenant.owner.call(getBillingSummary);
    },
  },
  list_plan_prices: { statements: 1, prepare: async () => () => newTenant(service).owner.call(listPlanPrices) },
  list_usage_prices: { statements: 1, prepare: async () => () => newTenant(service).owner.call(listUsagePrices) },
};

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'billing', table, rows)).toEqual(numbersOf(table));
});
