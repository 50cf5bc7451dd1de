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

test('400: a token pack is not a plan, whether there is a subscription or not', async () => {
  for (const tenant of [await subscriber(), await money.newTenant()]) {
    const { problem } = await change(tenant, { plan_key: 'tokens_1000' });
    expect(problem).toMatchObject({ status: 400, detail: 'body.plan_key: "tokens_1000" is not a plan.' });
  }
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test('404: a plan that does not exist, or is no longer for sale', async () => {
  const tenant = await subscriber();
  await money.db.query(`UPDATE plan_prices SET active = false WHERE plan_key = 'growth'`);
  for (const plan_key of ['platinum', 'growth']) {
    const detail = `body.plan_key: there is no plan or token pack "${plan_key}".`;
    expect((await change(tenant, { plan_key })).problem).toMatchObject({ status: 404, detail });
  }
  await money.db.query('UPDATE plan_prices SET active = true');
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test('404: without a subscription, and with one that has ended', async () => {
  const never = await change(await money.newTenant(), { plan_key: 'growth' });
  expect(never.problem).toMatchObject({ status: 404, kind: 'not-found' });
  const tenant = await subscriber();
  await money.db.query(`UPDATE subscriptions SET status = 'canceled' WHERE account_id = $1`, [tenant.account]);
  expect((await change(tenant, { plan_key: 'growth' })).problem).toEqual(never.problem);
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test('404: a cancelled subscription after its period, before the provider’s notification has arrived', async () => {
  const tenant = await subscriber();
  await money.provider.setCancelAtPeriodEnd((await atProvider(tenant)).id, true, 'elsewhere');
  await money.settle();
  money.clock.advance({ days: 32 });
  expect((await change(tenant, { plan_key: 'growth' })).status).toBe(404);
  expect(faults.callsOf('changePlan')).toEqual([]);
  await money.settle();
});

test('409: the plan that the subscription is already on', async () => {
  const tenant = await subscriber();
  const detail = 'body.plan_key: the subscription is on "starter" already.';
  expect((await change(tenant, { plan_key: 'starter' })).problem).toMatchObject({ status: 409, detail });
  expect(faults.callsOf('changePlan')).toEqual([]);
});

test('409: a declined card changes nothing; with another card the change is made', async () => {
  const tenant = await subscriber('starter', 'fails_later');
  const before = await shown(tenant);
  const { problem } = await change(tenant, { plan_key: 'growth' });
  expect(problem).toMatchObject({ status: 409, kind: 'conflict', detail: declined });
  await money.settle();
  expect(await shown(tenant)).toEqual(before);
  expect(await atProvider(tenant)).toMatchObject({ plan_key: 'starter', status: 'active' });
  expect((await money.entriesOf(tenant)).length).toBe(1);
  expect((await money.events(tenant, 3)).filter(({ type }) => type === 'invoice.paid').length).toBe(1);
  const failed = (await money.paymentsOf(tenant)).filter(({ status }) => status === 'failed');
  expect(failed).toMatchObject([{ amount_cents: 15_000, receipt_url: null }]);

  const { customer_id } = await atProvider(tenant);
  const setup = await money.provider.createSetupIntent(customer_id, 'another card');
  await money.saveCard(setup.client_secret, 'succeeds');
  expect((await change(tenant, { plan_key: 'growth' })).body).toMatchObject({ plan_key: 'growth' });
});

test('409: while a renewal is unpaid, an upgrade is refused', async () => {
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

test('502: while the provider does not respond, nothing changes; afterwards the change is made', async () => {
  const tenant = await subscriber();
  const before = await shown(tenant);
  faults.fail('changePlan');
  const { status, headers } = await change(tenant, { plan_key: 'growth' });
  expect([status, headers.get('retry-after'), await shown(tenant)]).toEqual([502, '1', before]);
  faults.mend();
  expect((await change(tenant, { plan_key: 'growth' })).body).toMatchObject({ change_type: 'upgrade' });
});

test('502: when the change was made but could not be fetched, its notification updates the subscription', async () => {
  const tenant = await subscriber();
  faults.fail('getSubscription');
  expect((await change(tenant, { plan_key: 'growth' })).status).toBe(502);
  faults.mend();
  await money.settle();
  expect(await shown(tenant)).toMatchObject({ plan_key: 'growth' });
  expect((await money.paymentsOf(tenant)).length).toBe(2);
});
