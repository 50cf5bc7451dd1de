import { cancelSubscription, getBillingSummary, resumeSubscription } from '@attribution/contracts';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
afterEach(() => faults.mend());
afterAll(() => money.stop());

const cancel = (tenant: Tenant) => tenant.owner.call(cancelSubscription);
const resume = (tenant: Tenant) => tenant.owner.call(resumeSubscription);
async function subscriber(plan = 'starter') {
  const tenant = await money.newTenant();
  await money.buy(tenant, plan);
  return tenant;
}
const shown = async (tenant: Tenant) => (await tenant.owner.call(getBillingSummary)).body.active_subscription;
const snapshotIn = async (tenant: Tenant) => {
  const { plan_key: _, ...snapshot } = (await shown(tenant)) ?? {};
  return snapshot;
};
/** The provider's subscription, as it is there. */
const idOf = async ({ account }: Tenant) => {
  const [row] = await money.rows(
    'SELECT provider_subscription_id AS id FROM subscriptions WHERE account_id = $1',
    account,
  );
  return String(row?.id);
};

test('200: cancelling a live subscription ends it with its period, at the provider too', async () => {
  const tenant = await subscriber();
  const end = (await shown(tenant))?.current_period_end;
  const { status, body } = await cancel(tenant);
  expect([status, body]).toEqual([200, { status: 'active', cancel_at_period_end: true, current_period_end: end }]);
  expect(await snapshotIn(tenant)).toEqual(body);
  expect(await money.provider.getSubscription(await idOf(tenant))).toMatchObject({ cancel_at_period_end: true });
});

test('200: cancelling again, or twenty times at once, changes nothing more', async () => {
  const tenant = await subscriber();
  const answers = await Promise.all(Array.from({ length: 20 }, () => cancel(tenant)));
  const again = await cancel(tenant);
  for (const { status, body } of answers) expect([status, body]).toEqual([200, again.body]);
  const events = await money.events(tenant, 3);
  expect(events.filter(({ type }) => type === 'subscription.updated').length).toBe(2);
});

test('200: without a subscription there is nothing to cancel: a canceled snapshot, and no call to the provider', async () => {
  const tenant = await money.newTenant();
  const nothing = { status: 'canceled', cancel_at_period_end: false, current_period_end: null };
  expect((await cancel(tenant)).body).toEqual(nothing);
  expect(faults.callsOf('setCancelAtPeriodEnd')).toEqual([]);
});

test('200: after the end of the period it is canceled, published once, and cancelling again returns that', async () => {
  const tenant = await subscriber();
  const { current_period_end } = (await cancel(tenant)).body;
  money.clock.advance({ days: 32 });
  await money.settle();
  expect(await shown(tenant)).toMatchObject({ status: 'canceled' });
  const over = { status: 'canceled', cancel_at_period_end: false, current_period_end };
  expect((await cancel(tenant)).body).toEqual(over);
  expect((await money.paymentsOf(tenant)).length).toBe(1);
  const events = (await money.events(tenant, 4)).map(({ type }) => type);
  expect(events.filter((type) => type === 'subscription.deleted').length).toBe(1);
});

test('200: cancelling a subscription that has ended, before its notification has arrived, returns that it has ended', async () => {
  const tenant = await subscriber();
  await cancel(tenant);
  await resume(tenant);
  await money.provider.setCancelAtPeriodEnd(await idOf(tenant), true, 'elsewhere');
  money.clock.advance({ days: 32 });
  faults.before('setCancelAtPeriodEnd', () => money.tick());
  expect((await cancel(tenant)).body).toMatchObject({ status: 'canceled', cancel_at_period_end: false });
  await money.settle();
});

test.each(['setCancelAtPeriodEnd', 'getSubscription'] as const)(
  '502: while the provider does not respond to %s, neither cancelling nor resuming works; a repetition does',
  async (method) => {
    const tenant = await subscriber();
    faults.fail(method);
    expect((await cancel(tenant)).problem).toMatchObject({ status: 502, kind: 'upstream-error' });
    faults.mend();
    expect((await cancel(tenant)).body).toMatchObject({ cancel_at_period_end: true });
    faults.fail(method);
    expect((await resume(tenant)).problem).toMatchObject({ status: 502, kind: 'upstream-error' });
    faults.mend();
    expect((await resume(tenant)).body).toMatchObject({ cancel_at_period_end: false });
    await money.settle();
  },
);

test('200: resuming undoes a cancellation, at the provider too, and the subscription renews', async () => {
  const tenant = await subscriber();
  const { body } = await cancel(tenant);
  const resumed = await resume(tenant);
  expect([resumed.status, resumed.body]).toEqual([200, { ...body, cancel_at_period_end: false }]);
  expect(await money.provider.getSubscription(await idOf(tenant))).toMatchObject({ cancel_at_period_end: false });
  money.clock.advance({ days: 32 });
  await money.settle();
  expect((await money.paymentsOf(tenant)).length).toBe(2);
  expect(await shown(tenant)).toMatchObject({ status: 'active', cancel_at_period_end: false });
});

test('200: resuming a subscription that is not being cancelled changes nothing, without a call to the provider', async () => {
  const tenant = await subscriber();
  const before = await snapshotIn(tenant);
  expect((await resume(tenant)).body).toEqual(before);
  expect(faults.callsOf('setCancelAtPeriodEnd')).toEqual([]);
});

test('200: a past due subscription that is being cancelled stays so', async () => {
  const tenant = await subscriber();
  await cancel(tenant);
  await money.db.query(`UPDATE subscriptions SET status = 'past_due' WHERE account_id = $1`, [tenant.account]);
  expect((await resume(tenant)).body).toMatchObject({ status: 'past_due', cancel_at_period_end: true });
  expect(faults.callsOf('setCancelAtPeriodEnd').length).toBe(1);
});

test('404: an account that never subscribed has nothing to resume', async () => {
  expect((await resume(await money.newTenant())).problem).toMatchObject({ status: 404, kind: 'not-found' });
});

test('404: after the end nothing can be resumed, whether the notification has arrived or not', async () => {
  const tenant = await subscriber();
  await cancel(tenant);
  money.clock.advance({ days: 32 });
  const early = await resume(tenant);
  expect([early.status, await shown(tenant)]).toMatchObject([404, { status: 'active' }]);
  expect(faults.callsOf('setCancelAtPeriodEnd').length).toBe(1);
  await money.settle();
  expect(await shown(tenant)).toMatchObject({ status: 'canceled' });
  expect((await resume(tenant)).problem).toEqual(early.problem);
});
