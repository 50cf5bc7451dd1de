import {
  addPaymentMethod,
  cancelSubscription,
  changePlan,
  createCheckoutSession,
  createRefund,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
afterAll(() => money.stop());

/** Names of columns and of the provider's fields, with values that callers must not be able to set. */
const greedy = () => ({
  id: newId('checkout_session'),
  account_id: newId('account'),
  customer_id: 'cus_of_somebody',
  provider_customer_id: 'cus_of_somebody',
  provider_checkout_id: 'cs_of_somebody',
  provider_payment_id: 'pi_of_somebody',
  provider_subscription_id: 'sub_of_somebody',
  subscription_id: 'sub_of_somebody',
  created_by: newId('user'),
  created_at: '2020-01-01T00:00:00Z',
  status: 'complete',
  kind: 'token_pack',
  url: 'https://evil.example/',
  amount_cents: 1,
  currency: 'xau',
  interval: null,
  price: { amount_cents: 1 },
  token_amount: 1_000_000,
  tokens: 1_000_000,
  change_type: 'downgrade',
  from_plan_key: 'enterprise',
  cancel_at_period_end: false,
  current_period_end: '2099-01-01T00:00:00Z',
  hold_id: newId('token_hold'),
  attempt: 'mine',
  reference: 'mine',
});

test('a checkout accepts a mode, a plan key and a return_url, and ignores other fields', async () => {
  const tenant = await money.newTenant();
  const body = { ...greedy(), mode: 'payment', plan_key: 'tokens_1000' } as const;
  const page = (await tenant.owner.call(createCheckoutSession, { body })).body;
  expect([page.id, page.url]).not.toContain(body.id);
  const [row] = await money.rows('SELECT * FROM checkouts WHERE id = $1', page.id);
  expect(row).toMatchObject({ account_id: tenant.account, status: 'open', mode: 'payment', plan_key: 'tokens_1000' });
  for (const column of ['created_by', 'created_at', 'provider_checkout_id', 'url'] as const)
    expect(row?.[column]).not.toEqual(body[column]);
  const [[asked]] = faults.callsOf('createCheckout') as [[object]];
  expect(asked).toMatchObject({ price: { amount_cents: 900, currency: 'usd' }, accountId: tenant.account });
  await money.pay(page);
  await money.settle();
  expect(await money.paymentsOf(tenant)).toMatchObject([{ amount_cents: 900, token_amount: 1_000, currency: 'usd' }]);
});

test('a change of plan accepts a plan key only', async () => {
  const tenant = await money.newTenant();
  const other = await money.newTenant();
  for (const { owner } of [tenant, other])
    await money.pay(
      (await owner.call(createCheckoutSession, { body: { mode: 'subscription', plan_key: 'starter' } })).body,
    );
  await money.settle();
  const body = { ...greedy(), account_id: other.account, plan_key: 'growth' };
  expect((await tenant.owner.call(changePlan, { body })).body).toMatchObject({
    plan_key: 'growth',
    change_type: 'upgrade',
    status: 'active',
  });
  const plans = await money.rows('SELECT account_id, plan_key FROM subscriptions WHERE account_id = ANY($1)', [
    tenant.account,
    other.account,
  ]);
  expect(new Map(plans.map(({ account_id, plan_key }) => [account_id, plan_key]))).toEqual(
    new Map([
      [tenant.account, 'growth'],
      [other.account, 'starter'],
    ]),
  );
});

test('endpoints without a body read none', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  const body = greedy() as never;
  expect((await tenant.owner.call(cancelSubscription, { body })).body).toMatchObject({ cancel_at_period_end: true });
  expect((await tenant.owner.call(addPaymentMethod, { body })).body.id).toMatch(/^seti_/);
  const [[customer]] = faults.callsOf('createSetupIntent') as [[string]];
  const rows = await money.rows(
    'SELECT provider_customer_id AS id FROM customers WHERE account_id = $1',
    tenant.account,
  );
  expect(rows).toEqual([{ id: customer }]);
});

test('a refund accepts a payment, a key, an amount, a destination and a reason only', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  const [payment] = await money.paymentsOf(tenant);
  const { body } = await money.internal.call(createRefund, {
    body: {
      ...greedy(),
      account_id: tenant.account,
      payment_id: payment?.id ?? '',
      idempotency_key: 'k',
      amount_cents: 90,
      status: 'failed',
    } as never,
  });
  expect(body).toMatchObject({
    id: expect.stringMatching(/^ref_/),
    amount_cents: 90,
    token_amount: 100,
    status: 'succeeded',
  });
  expect(body.created_at > '2026').toBe(true);
});
