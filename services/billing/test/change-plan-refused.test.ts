import { changePlan, getBillingSummary } from '@attribution/contracts';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
beforeEach(() => faults.mend());
afterAll(() => money.stop());

const declined = 'The payment was declined: nothing was changed.';

async function subscriber(plan = 'starter', card?: 'fails_later') {
  const tenant = await money.newTenant();
  await money.buy(tenant, plan, card);
  return tenant;
}
const change = (tenant: Tenant, body: unknown) => tenant.owner.call(changePlan, { body: body as never });
const shown = async (tenant: Tenant) => (await tenant.owner.call(getBillingSummary)).body.active_subscription;
const atProvider = async ({ account }: Tenant) => {
  const [row] = await money.rows(
    'SELECT provider_subscription_id AS id FROM subscriptions WHERE account_id = $1',
    account,
  );
  return money.provider.getSubscription(String(row?.id));
};

test.each([
  undefined,
  {},
  { plan_key: '' },
  { plan_key: null },
  { plan_key: ['growth'] },
  { plan_key: 'x'.repeat(101) },
])('400: a change to %j', async (body) => {
  expect((await change(await money.newTenant(), body)).problem).toMatchObject({ kind: 'validation-error' });
});

test('400: a token pack is no plan, whether there is a subscription or not', async () => {
  for (const tenant of [await subscriber(), await money.newTenant()]) {
    const { problem } = await change(tenant, { plan_key: 'tokens_1000' });
    expect(problem).toMatchObject({ status: 400, detail: 'body.plan_key: "tokens_1000" is not a plan.' });
  }
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test('404: a plan that nobody sells, or nobody sells any more', async () => {
  const tenant = await subscriber();
  await money.db.query(`UPDATE plan_prices SET active = false WHERE plan_key = 'growth'`);
  for (const plan_key of ['platinum', 'growth']) {
    const detail = `body.plan_key: there is no plan or token pack "${plan_key}".`;
    expect((await change(tenant, { plan_key })).problem).toMatchObject({ status: 404, detail });
  }
  await money.db.query('UPDATE plan_prices SET active = true');
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test('404: without a subscription there is none to change; nor with one that has ended', async () => {
  const never = await change(await money.newTenant(), { plan_key: 'growth' });
  expect(never.problem).toMatchObject({ status: 404, kind: 'not-found' });
  const tenant = await subscriber();
  await money.db.query(`UPDATE subscriptions SET status = 'canceled' WHERE account_id = $1`, [tenant.account]);
  expect((await change(tenant, { plan_key: 'growth' })).problem).toEqual(never.problem);
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test("404: a cancelled one whose period is over, of which the provider's word has not come", async () => {
  const tenant = await subscriber();
  await money.provider.setCancelAtPeriodEnd((await atProvider(tenant)).id, true, 'elsewhere');
  await money.settle();
  money.clock.advance({ days: 32 });
  expect((await change(tenant, { plan_key: 'growth' })).status).toBe(404);
  expect(faults.callsOf('changePlan')).toEqual([]);
  await money.settle();
});

test('409: the plan that it is on already', async () => {
  const tenant = await subscriber();
  const detail = 'body.plan_key: the subscription is on "starter" already.';
  expect((await change(tenant, { plan_key: 'starter' })).problem).toMatchObject({ status: 409, detail });
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test('409: a card that is declined leaves everything as it was; with another card the change is made', async () => {
  const tenant = await subscriber('starter', 'fails_later');
  const before = await shown(tenant);
  const { problem } = await change(tenant, { plan_key: 'growth' });
  expect(problem).toMatchObject({ status: 409, kind: 'conflict', detail: declined });
  await money.settle();
  expect(await shown(tenant)).toEqual(before);
  expect(await atProvider(tenant)).toMatchObject({ plan_key: 'starter', status: 'active' });
  expect((await money.entriesOf(tenant)).length).toBe(1);
  expect((await money.told(tenant, 3)).filter(({ type }) => type === 'invoice.paid').length).toBe(1);
  const failed = (await money.paymentsOf(tenant)).filter(({ status }) => status === 'failed');
  expect(failed).toMatchObject([{ amount_cents: 15_000, receipt_url: null }]);

  const { customer_id } = await atProvider(tenant);
  const setup = await money.provider.createSetupIntent(customer_id, 'another card');
  await money.saveCard(setup.client_secret, 'succeeds');
  expect((await change(tenant, { plan_key: 'growth' })).body).toMatchObject({ plan_key: 'growth' });
});

test('409: while a renewal is unpaid, nothing dearer is begun', async () => {
  const tenant = await subscriber('starter', 'fails_later');
  money.clock.advance({ days: 32 });
  await money.settle();
  expect(await shown(tenant)).toMatchObject({ status: 'past_due' });
  const { problem } = await change(tenant, { plan_key: 'growth' });
  expect(problem).toMatchObject({ status: 409, detail: 'What is past due is paid first.' });
  expect(await shown(tenant)).toMatchObject({ plan_key: 'starter', status: 'past_due' });
});

test('404: a subscription that the provider does not have', async () => {
  const tenant = await subscriber();
  faults.fail('changePlan', 'not_found');
  expect((await change(tenant, { plan_key: 'growth' })).problem).toMatchObject({ status: 404, kind: 'not-found' });
});

test('502: while the provider does not answer, nothing changes; afterwards it does', async () => {
  const tenant = await subscriber();
  const before = await shown(tenant);
  faults.fail('changePlan');
  const { status, headers } = await change(tenant, { plan_key: 'growth' });
  expect([status, headers.get('retry-after'), await shown(tenant)]).toEqual([502, '1', before]);
  faults.mend();
  expect((await change(tenant, { plan_key: 'growth' })).body).toMatchObject({ change_type: 'upgrade' });
});

test('502: where the change was made and could not be fetched, the notification of it brings it', async () => {
  const tenant = await subscriber();
  faults.fail('getSubscription');
  expect((await change(tenant, { plan_key: 'growth' })).status).toBe(502);
  faults.mend();
  await money.settle();
  expect(await shown(tenant)).toMatchObject({ plan_key: 'growth' });
  expect((await money.paymentsOf(tenant)).length).toBe(2);
});
