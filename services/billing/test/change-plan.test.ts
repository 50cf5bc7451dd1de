import { changePlan, getBillingSummary } from '@attribution/contracts';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
  await money.db.query(`
    INSERT INTO plan_prices (plan_key, name, kind, amount_cents, currency, interval, token_amount, position) VALUES
      ('starter_year', 'Starter, yearly', 'subscription', 49000, 'usd', 'year', 120000, 11),
      ('growth_year', 'Growth, yearly', 'subscription', 199000, 'usd', 'year', 600000, 12)`);
});
beforeEach(() => faults.mend());
afterAll(() => money.stop());

async function subscriber(plan: string, card?: 'fails_later') {
  const tenant = await money.newTenant();
  await money.buy(tenant, plan, card);
  return tenant;
}
async function change(tenant: Tenant, plan_key: string) {
  const answer = await tenant.owner.call(changePlan, { body: { plan_key } });
  await money.settle();
  return answer;
}
const shown = async (tenant: Tenant) => (await tenant.owner.call(getBillingSummary)).body.active_subscription;
const paidFor = async (tenant: Tenant) =>
  (await money.paymentsOf(tenant)).map(({ amount_cents, token_amount }) => [amount_cents, token_amount]);
const toldOf = async (tenant: Tenant, type: string) =>
  (await money.events(tenant, 2)).filter((event) => event.type === type).map(({ data }) => data);

test('200: an upgrade on the first day invoices the whole difference, and grants the difference in tokens', async () => {
  const tenant = await subscriber('starter');
  const end = (await shown(tenant))?.current_period_end;
  const { status, body } = await change(tenant, 'growth');
  expect([status, body]).toEqual([
    200,
    {
      plan_key: 'growth',
      change_type: 'upgrade',
      status: 'active',
      cancel_at_period_end: false,
      current_period_end: end,
    },
  ]);
  expect(await shown(tenant)).toMatchObject({ plan_key: 'growth', current_period_end: end });
  const [[cents = 0, tokens = 0] = [], first] = await paidFor(tenant);
  expect(first).toEqual([4_900, 10_000]);
  // A second or two of the month may have passed.
  expect(15_000 - cents).toBeLessThan(3);
  expect(cents).toBeLessThanOrEqual(15_000);
  expect(40_000 - tokens).toBeLessThan(10);
  expect(tokens).toBeLessThanOrEqual(40_000);
});

test('200: an upgrade in the middle of a period costs the share of the remaining time, and grants tokens in proportion', async () => {
  const tenant = await subscriber('starter');
  const ends = Date.parse((await shown(tenant))?.current_period_end ?? '');
  const [bought] = await money.paymentsOf(tenant);
  money.clock.advance({ days: 10 });
  await change(tenant, 'enterprise');
  const left = (ends - money.clock.now().getTime()) / (ends - Date.parse(bought?.created_at ?? ''));
  const [[cents = 0, tokens = 0] = []] = await paidFor(tenant);
  expect(Math.abs(cents - left * (79_900 - 4_900))).toBeLessThan(2);
  expect(Math.abs(tokens - left * (250_000 - 10_000))).toBeLessThan(10);
  const [, paid] = await toldOf(tenant, 'invoice.paid');
  expect(paid).toMatchObject({
    plan_key: 'enterprise',
    amount_cents: cents,
    token_amount: tokens,
    kind: 'subscription',
  });
  const [entry] = await money.entriesOf(tenant);
  expect(entry).toMatchObject({ kind: 'payment', amount_cents: cents, description: 'Enterprise', seq: 2 });
});

test('200: the period after an upgrade costs the new price, and grants all of its tokens', async () => {
  const tenant = await subscriber('starter');
  await change(tenant, 'growth');
  money.clock.advance({ days: 32 });
  await money.settle();
  expect((await paidFor(tenant))[0]).toEqual([19_900, 50_000]);
});

test('200: a downgrade invoices nothing and keeps the tokens; the next renewal is at the new rate', async () => {
  const tenant = await subscriber('growth');
  const end = (await shown(tenant))?.current_period_end;
  const { body } = await change(tenant, 'starter');
  expect(body).toMatchObject({ plan_key: 'starter', change_type: 'downgrade', current_period_end: end });
  expect(await paidFor(tenant)).toEqual([[19_900, 50_000]]);
  expect(await shown(tenant)).toMatchObject({ plan_key: 'starter' });
  money.clock.advance({ days: 32 });
  await money.settle();
  expect(await paidFor(tenant)).toEqual([
    [4_900, 10_000],
    [19_900, 50_000],
  ]);
  expect((await money.entriesOf(tenant))[0]).toMatchObject({ balance_after_cents: 24_800, seq: 2 });
});

test('200: the price per year decides: from a month to a cheaper year is a downgrade, which waits for the end', async () => {
  const tenant = await subscriber('starter');
  const end = (await shown(tenant))?.current_period_end ?? '';
  expect((await change(tenant, 'starter_year')).body).toMatchObject({
    change_type: 'downgrade',
    current_period_end: end,
  });
  expect(await paidFor(tenant)).toEqual([[4_900, 10_000]]);
  money.clock.advance({ days: 32 });
  await money.settle();
  expect((await paidFor(tenant))[0]).toEqual([49_000, 120_000]);
  const next = new Date(end);
  next.setUTCFullYear(next.getUTCFullYear() + 1);
  expect((await shown(tenant))?.current_period_end).toBe(next.toISOString());
});

test('200: from a month to a more expensive year: the year begins now, and the rest of the month is credited', async () => {
  const tenant = await subscriber('starter');
  const { body } = await change(tenant, 'growth_year');
  expect(body.change_type).toBe('upgrade');
  const [[cents = 0, tokens = 0] = []] = await paidFor(tenant);
  expect(Math.abs(cents - (199_000 - 4_900))).toBeLessThan(3);
  expect(Math.abs(tokens - (600_000 - 10_000))).toBeLessThan(10);
  const year = Date.parse(body.current_period_end ?? '') - money.clock.now().getTime();
  expect(Math.round(year / 86_400_000)).toBeGreaterThanOrEqual(365);
});

test('200: a credit beyond the new price never reduces tokens below zero; renewals use it first', async () => {
  const tenant = await subscriber('growth_year');
  const { body } = await change(tenant, 'growth');
  expect(body).toMatchObject({ change_type: 'upgrade', plan_key: 'growth' });
  const summary = async () => (await tenant.owner.call(getBillingSummary)).body;
  const { credit_balance_cents: credit } = await summary();
  expect(Math.abs(credit - (199_000 - 19_900))).toBeLessThan(3);
  expect(await paidFor(tenant)).toEqual([
    [0, 0],
    [199_000, 600_000],
  ]);
  money.clock.advance({ days: 32 });
  await money.settle();
  expect((await summary()).credit_balance_cents).toBe(credit - 19_900);
  expect((await paidFor(tenant))[0]).toEqual([0, 50_000]);
  const paid = await toldOf(tenant, 'invoice.paid');
  expect(paid.at(-1)).toMatchObject({ amount_cents: 0, token_amount: 50_000, plan_key: 'growth' });
  expect((await money.entriesOf(tenant)).map(({ kind, amount_cents }) => [kind, amount_cents])).toEqual([
    ['credit', 19_900],
    ['credit', -credit],
    ['payment', 199_000],
  ]);
});

test('200: up, down and up again are each decided by the plan in force', async () => {
  const tenant = await subscriber('starter');
  const types: string[] = [];
  for (const plan of ['growth', 'starter', 'enterprise', 'growth'])
    types.push((await change(tenant, plan)).body.change_type);
  expect(types).toEqual(['upgrade', 'downgrade', 'upgrade', 'downgrade']);
  expect((await money.paymentsOf(tenant)).length).toBe(3);
  const changes = await money.rows(
    'SELECT from_plan_key AS f, to_plan_key AS t FROM plan_changes WHERE account_id = $1 ORDER BY created_at',
    tenant.account,
  );
  expect(changes.map(({ f, t }) => `${f} to ${t}`)).toEqual([
    'starter to growth',
    'growth to starter',
    'starter to enterprise',
    'enterprise to growth',
  ]);
});

test('200: a plan that is no longer for sale can be left for another, and its price still counts', async () => {
  const tenant = await subscriber('growth');
  await money.db.query(`UPDATE plan_prices SET active = false WHERE plan_key = 'growth'`);
  expect((await change(tenant, 'starter')).body.change_type).toBe('downgrade');
  await money.db.query('UPDATE plan_prices SET active = true');
});
