import { addPaymentMethod, cancelSubscription, listPaymentMethods, resumeSubscription } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
beforeEach(() => faults.mend());
afterAll(() => money.stop());

test('a refund that the provider made long before it could respond is found, posted, and not made twice', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  faults.loseAnswer('createRefund');
  expect((await money.refund(tenant, { amount_cents: 300 })).status).toBe(502);
  faults.mend();
  // As if the notification of it had been lost, and the provider had forgotten the key.
  await money.db.query('DELETE FROM provider_events');
  money.clock.advance({ days: 2 });
  await eventually(async () => expect(await money.refundsOf(tenant)).toMatchObject([{ status: 'succeeded' }]));
  expect(faults.callsOf('createRefund')).toEqual([]);
  expect(await money.entriesOf(tenant)).toMatchObject([{ kind: 'refund', amount_cents: -300 }, { amount_cents: 900 }]);
});

test('a refund that was assumed to have failed, but did not, is posted when the provider sends its notification', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  faults.fail('createRefund', 'refused');
  expect((await money.refund(tenant)).status).toBe(422);
  faults.mend();
  const [failed] = await money.refundsOf(tenant);
  const [paid] = await money.rows(
    'SELECT provider_payment_id AS id FROM payments WHERE account_id = $1',
    tenant.account,
  );
  const asked = {
    paymentId: String(paid?.id),
    amountCents: 900,
    reason: 'duplicate',
    reference: failed?.id ?? '',
  } as const;
  await money.provider.createRefund(asked, 'late');
  await money.settle();
  expect(await money.refundsOf(tenant)).toMatchObject([{ id: failed?.id, status: 'succeeded' }]);
  expect((await money.entriesOf(tenant)).map(({ amount_cents }) => amount_cents)).toEqual([-900, 900]);
});

test('502: a cancellation that the provider does not carry out is not reported as done', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  faults.fail('setCancelAtPeriodEnd', 'refused');
  expect((await tenant.owner.call(cancelSubscription)).status).toBe(502);
  faults.mend();
  expect((await tenant.owner.call(cancelSubscription)).body.cancel_at_period_end).toBe(true);
  faults.fail('setCancelAtPeriodEnd', 'refused');
  expect((await tenant.owner.call(resumeSubscription)).status).toBe(502);
});

test('502: a customer that no longer exists at the provider is not reported as an unknown payment method', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  faults.fail('listPaymentMethods', 'not_found');
  faults.fail('createSetupIntent', 'not_found');
  expect((await tenant.owner.call(listPaymentMethods)).status).toBe(502);
  expect((await tenant.owner.call(addPaymentMethod)).status).toBe(502);
});

test('the card of a customer who is not ours is ignored', async () => {
  const { id: customerId } = await money.provider.createCustomer(
    { accountId: 'acc_elsewhere', name: 'Other' },
    'other',
  );
  const setup = await money.provider.createSetupIntent(customerId, 'other-setup');
  await money.saveCard(setup.client_secret, 'succeeds');
  await money.settle();
  expect(faults.callsOf('getSetup')).toEqual([[setup.id]]);
  expect(faults.callsOf('useSavedCard')).toEqual([]);
});

test('a payment is stored even if its customer was deleted at the provider', async () => {
  const tenant = await money.newTenant();
  faults.fail('getCustomer', 'not_found');
  await money.buy(tenant, 'starter');
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'succeeded', token_amount: 10_000 }]);
});

test('the provider’s messages appear only in the log', async () => {
  const tenant = await money.newTenant();
  faults.fail('createCheckout', 'refused');
  const page = money.checkout(tenant, 'tokens_1000').catch((error: Error) => error.message);
  expect(String(await page)).not.toContain('The provider says refused');
  expect(money.logs.text()).toContain('The provider says refused');
});
