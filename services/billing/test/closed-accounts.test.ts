import { accountClosed, createCheckoutSession } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
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

const close = ({ account }: Tenant) => money.deliver(accountClosed, { account_id: account }, account);
const endOf = (tenant: Tenant) =>
  money.rows('SELECT status, cancel_at_period_end FROM subscriptions WHERE account_id = $1', tenant.account);

test('the subscription of a closed account ends with its period, and is not charged again', async () => {
  const [tenant, other] = [await money.newTenant(), await money.newTenant()];
  await money.buy(tenant, 'starter');
  await money.buy(other, 'starter');
  await close(tenant);
  await eventually(
    async () => expect(await endOf(tenant)).toEqual([{ status: 'active', cancel_at_period_end: true }]),
    15_000,
  );
  money.clock.advance({ days: 32 });
  await money.settle();
  expect(await endOf(tenant)).toMatchObject([{ status: 'canceled' }]);
  expect(await money.paymentsOf(tenant)).toHaveLength(1);
  expect(await money.paymentsOf(other)).toHaveLength(2);
});

test('its open pages are closed, and no new one can be opened', async () => {
  const tenant = await money.newTenant();
  const page = await money.checkout(tenant, 'tokens_1000');
  faults.fail('expireCheckout'); // It is tried again.
  await close(tenant);
  await eventually(() => expect(faults.callsOf('expireCheckout')).not.toEqual([]));
  faults.mend();
  const status = () => money.rows('SELECT status FROM checkouts WHERE account_id = $1', tenant.account);
  await eventually(async () => expect(await status()).toEqual([{ status: 'expired' }]));
  await money.pay(page);
  await money.settle();
  expect(await money.paymentsOf(tenant)).toEqual([]);
  const body = { mode: 'payment', plan_key: 'tokens_1000' } as const;
  const { problem } = await tenant.owner.call(createCheckoutSession, { body });
  expect(problem).toMatchObject({ status: 409, detail: 'The account is closed.' });
});
