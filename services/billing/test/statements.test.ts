import {
  getBillingSummary,
  getUsagePrice,
  listMoneyEntries,
  listPayments,
  listPlanPrices,
  listRefunds,
  listUsagePrices,
} from '@attribution/contracts';
import {
  countRecords,
  countStatements,
  internalToken,
  numbersOf,
  oneRecordEach,
  recordsOf,
  type StatementTable,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Money, startMoney } from './support-money.ts';
import { oneStatements, writingStatements } from './support-statements.ts';
import { booked, query } from './support-statements-rows.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

const table: StatementTable = {
  get_billing_summary: {
    statements: 2,
    async prepare(rows) {
      const { owner } = await booked(money, rows);
      return () => owner.call(getBillingSummary);
    },
  },
  list_plan_prices: {
    statements: 1,
    async prepare() {
      const { owner } = await money.newTenant();
      return () => owner.call(listPlanPrices);
    },
  },
  list_usage_prices: {
    statements: 1,
    async prepare() {
      const { owner } = await money.newTenant();
      return () => owner.call(listUsagePrices);
    },
  },
  list_payments: {
    statements: 1,
    async prepare(rows) {
      const { owner } = await booked(money, rows);
      return () => owner.call(listPayments, query);
    },
  },
  list_refunds: {
    statements: 1,
    async prepare(rows) {
      const { owner } = await booked(money, rows);
      return () => owner.call(listRefunds, query);
    },
  },
  list_money_entries: {
    statements: 1,
    async prepare(rows) {
      const { owner } = await booked(money, rows);
      return () => owner.call(listMoneyEntries, query);
    },
  },
  get_usage_price: {
    statements: 1,
    async prepare() {
      const campaign = money.client.with({ token: internalToken('campaign', 'billing') });
      return () => campaign.call(getUsagePrice, { params: { action: 'score_ad' } });
    },
  },
  ...oneStatements(() => money),
  ...writingStatements(() => money),
};

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(money, 'billing', table, rows)).toEqual(numbersOf(table));
});

test('each endpoint that writes leaves one audit record of a success, and so does a refund by a service', async () => {
  expect(await countRecords(money, 'billing', table)).toEqual(oneRecordEach('billing'));
  const before = await recordsOf(money, 'create_refund');
  await (await table.create_refund?.prepare(1))?.();
  expect(await recordsOf(money, 'create_refund')).toBe(before + 1);
});
