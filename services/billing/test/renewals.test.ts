import { accountPurged, addPaymentMethod, getBillingSummary } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

const summary = async (tenant: Tenant) => (await tenant.owner.call(getBillingSummary)).body;
const statuses = async (tenant: Tenant) => (await money.paymentsOf(tenant)).map(({ status }) => status);
const typesOf = async (tenant: Tenant, count: number) => (await money.events(tenant, count)).map(({ type }) => type);
async function pass(days: number) {
  money.clock.advance({ days });
  await money.settle();
}

test('200: the summary of a subscriber shows the plan, the end of the period, and the customer id at the provider', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'growth');
  expect(await summary(tenant)).toEqual({
    account_id: tenant.account,
    provider_customer_id: expect.stringMatching(/^cus_/),
    credit_balance_cents: 0,
    currency: 'usd',
    active_subscription: {
      plan_key: 'growth',
      status: 'active',
      cancel_at_period_end: false,
      current_period_end: expect.stringMatching(/Z$/),
    },
  });
  expect((await typesOf(tenant, 2)).sort()).toEqual(['invoice.paid', 'subscription.updated']);
});

test('each period is one payment with its tokens, posted and published once', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  for (let i = 0; i < 3; i++) await pass(31);
  const payments = await money.paymentsOf(tenant);
  expect(payments.map(({ amount_cents, token_amount }) => [amount_cents, token_amount])).toEqual(
    Array(4).fill([4_900, 10_000]),
  );
  expect((await money.entriesOf(tenant))[0]).toMatchObject({
    seq: 4,
    balance_after_cents: 19_600,
    description: 'Starter',
  });
  const events = await money.events(tenant, 8);
  const paid = events
    .filter(({ type }) => type === 'invoice.paid')
    .map(({ data }) => (data as { payment_id: string }).payment_id);
  expect(new Set(paid)).toEqual(new Set(payments.map(({ id }) => id)));
  expect(paid.length).toBe(4);
});

test('after months without processing, all renewals are found, each once', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  await pass(100);
  expect(await statuses(tenant)).toEqual(Array(4).fill('succeeded'));
  expect((await money.entriesOf(tenant)).length).toBe(4);
});

test('a renewal with a failing card is past due, published once, and paid by a new card at the next attempt', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter', 'fails_later');
  await pass(32);
  expect([(await summary(tenant)).active_subscription?.status, await statuses(tenant)]).toEqual([
    'past_due',
    ['failed', 'succeeded'],
  ]);
  await pass(4);
  expect((await typesOf(tenant, 4)).filter((type) => type === 'payment.failed').length).toBe(1);
  expect((await money.entriesOf(tenant)).length).toBe(1);
  const { client_secret } = (await tenant.owner.call(addPaymentMethod)).body;
  await money.saveCard(client_secret, 'succeeds');
  await pass(5);
  expect([(await summary(tenant)).active_subscription?.status, await statuses(tenant)]).toEqual([
    'active',
    ['succeeded', 'succeeded'],
  ]);
  expect((await typesOf(tenant, 6)).filter((type) => type === 'invoice.paid').length).toBe(2);
});

test('a renewal that is never paid ends the subscription, and grants no tokens', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter', 'fails_later');
  for (const days of [32, 4, 6, 8]) await pass(days);
  expect([(await summary(tenant)).active_subscription?.status, await statuses(tenant)]).toEqual([
    'canceled',
    ['failed', 'succeeded'],
  ]);
  const types = await typesOf(tenant, 5);
  expect(types.filter((type) => type === 'subscription.deleted').length).toBe(1);
  expect(types.filter((type) => type === 'invoice.paid').length).toBe(1);
});

test('account.purged: payments are kept, and still stored when the account is deleted', async () => {
  const [tenant, other] = [await money.newTenant(), await money.newTenant()];
  await money.buy(tenant, 'tokens_1000');
  await money.checkout(other, 'tokens_1000');
  for (const { account } of [tenant, other]) await money.deliver(accountPurged, { account_id: account }, account);
  await money.refund(tenant);
  expect(await money.entriesOf(tenant)).toMatchObject([{ amount_cents: -900 }, { amount_cents: 900 }]);
  const rows = await money.rows('SELECT 1 FROM customers WHERE account_id = $1', other.account);
  expect([rows, await money.rows('SELECT 1 FROM checkouts WHERE account_id = $1', other.account)]).toEqual([[], []]);
});
