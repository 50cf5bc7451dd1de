import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { buy, checkoutOf, eventsOf, newCustomer, newKey, prices, refusal } from './provider-support.ts';
import { openSimulated } from './simulated-support.ts';

let opened: Awaited<ReturnType<typeof openSimulated>>;
beforeEach(async () => {
  opened = await openSimulated();
});
afterEach(() => opened.close());

async function after(days: number) {
  opened.clock.advance({ days });
  await opened.tick();
}

const typesOf = async (since = new Date(0)) => (await eventsOf(opened, since)).map(({ type }) => type);

async function invoices() {
  const events = await eventsOf(opened, new Date(0));
  const ids = new Set(events.filter(({ object }) => object.kind === 'invoice').map(({ object }) => object.id));
  return Promise.all([...ids].map((id) => opened.provider.getInvoice(id)));
}

const paidFor = async () =>
  (await invoices()).map(({ reason, status, amount_paid_cents }) => [reason, status, amount_paid_cents]);

/** Replaces the card by one that fails later. */
async function worsenCard(customerId: string) {
  const { client_secret } = await opened.provider.createSetupIntent(customerId, newKey());
  await opened.saveCard(client_secret, 'fails_later');
}

test('a subscription renews when its period is over, and not before', async () => {
  const { subscriptionId } = await buy(opened, prices.small);
  const first = await opened.provider.getSubscription(subscriptionId);
  await after(27);
  expect(await paidFor()).toEqual([['create', 'paid', 4_900]]);
  await after(5);
  expect(await paidFor()).toEqual([
    ['create', 'paid', 4_900],
    ['cycle', 'paid', 4_900],
  ]);
  const renewed = await opened.provider.getSubscription(subscriptionId);
  expect(renewed).toMatchObject({ status: 'active', plan_key: 'small' });
  expect(Number(renewed.current_period_end)).toBeGreaterThan(Number(first.current_period_end));
  expect((await typesOf()).slice(-3)).toEqual([
    'payment_intent.succeeded',
    'invoice.paid',
    'customer.subscription.updated',
  ]);
});

test('a big jump of the clock renews once per period', async () => {
  const { subscriptionId } = await buy(opened, prices.small);
  await after(100);
  expect((await paidFor()).filter(([reason]) => reason === 'cycle')).toHaveLength(3);
  const { current_period_end } = await opened.provider.getSubscription(subscriptionId);
  expect(Number(current_period_end)).toBeGreaterThan(opened.now().getTime());
});

test('processing the same moment twice changes nothing more', async () => {
  await buy(opened, prices.small);
  await after(32);
  const events = await typesOf();
  await Promise.all([opened.tick(), opened.tick()]);
  expect(await typesOf()).toEqual(events);
});

test('a cancelled subscription ends with its period, without a charge, and cannot be resumed', async () => {
  const { subscriptionId } = await buy(opened, prices.small);
  await opened.provider.setCancelAtPeriodEnd(subscriptionId, true, newKey());
  await after(27);
  expect(await opened.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'active' });
  await after(5);
  expect(await opened.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'canceled' });
  expect(await paidFor()).toEqual([['create', 'paid', 4_900]]);
  expect((await typesOf()).at(-1)).toBe('customer.subscription.deleted');
  const resumed = opened.provider.setCancelAtPeriodEnd(subscriptionId, false, newKey());
  await expect(resumed).rejects.toEqual(refusal('refused'));
});

test('a failing renewal makes the subscription past due; after four attempts it is cancelled', async () => {
  const { customer, subscriptionId } = await buy(opened, prices.small);
  await worsenCard(customer.id);
  await after(32);
  expect(await opened.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'past_due' });
  expect(await paidFor()).toEqual([
    ['create', 'paid', 4_900],
    ['cycle', 'open', 0],
  ]);
  for (const days of [3, 5]) {
    await after(days);
    expect(await opened.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'past_due' });
  }
  await after(7);
  expect(await opened.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'canceled' });
  expect((await paidFor()).at(-1)).toEqual(['cycle', 'uncollectible', 0]);
  const types = await typesOf();
  expect(types.filter((type) => type === 'invoice.payment_failed')).toHaveLength(4);
  expect(types.at(-1)).toBe('customer.subscription.deleted');
  const [, failed] = await invoices();
  expect(await opened.provider.getPayment(failed?.payment_id ?? '')).toMatchObject({ status: 'failed' });
});

test('a new card pays the overdue renewal, and the subscription is active again', async () => {
  const { customer, subscriptionId } = await buy(opened, prices.small);
  await worsenCard(customer.id);
  await after(32);
  const { client_secret } = await opened.provider.createSetupIntent(customer.id, newKey());
  await opened.saveCard(client_secret, 'succeeds');
  await after(3);
  expect(await opened.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'active' });
  expect((await paidFor()).at(-1)).toEqual(['cycle', 'paid', 4_900]);
});

test('without a card a renewal fails', async () => {
  const { customer, subscriptionId } = await buy(opened, prices.small);
  for (const { id } of await opened.provider.listPaymentMethods(customer.id))
    await opened.provider.detachPaymentMethod(customer.id, id);
  await after(32);
  expect(await opened.provider.getSubscription(subscriptionId)).toMatchObject({ status: 'past_due' });
});

test('a past due subscription cannot be upgraded before it is paid', async () => {
  const { customer, subscriptionId } = await buy(opened, prices.small);
  await worsenCard(customer.id);
  await after(32);
  const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
  await expect(opened.provider.changePlan(change, newKey())).rejects.toEqual(refusal('refused'));
});

test('a downgrade is charged from the next renewal on', async () => {
  const { subscriptionId } = await buy(opened, prices.large);
  await opened.provider.changePlan(
    { subscriptionId, fromPlanKey: 'large', price: prices.small, type: 'downgrade' },
    newKey(),
  );
  await after(32);
  expect(await paidFor()).toEqual([
    ['create', 'paid', 19_900],
    ['cycle', 'paid', 4_900],
  ]);
});

test('from a year to a month: the year is used up first, then each month is charged', async () => {
  const { subscriptionId } = await buy(opened, prices.yearly);
  await opened.provider.changePlan(
    { subscriptionId, fromPlanKey: 'yearly', price: prices.large, type: 'downgrade' },
    newKey(),
  );
  await after(360);
  expect(await paidFor()).toEqual([['create', 'paid', 199_000]]);
  await after(20);
  await after(20);
  expect((await paidFor()).slice(1)).toEqual([
    ['cycle', 'paid', 19_900],
    ['cycle', 'paid', 19_900],
  ]);
});

test('half way through a period an upgrade costs half the difference', async () => {
  const { subscriptionId } = await buy(opened, prices.small);
  const { current_period_end } = await opened.provider.getSubscription(subscriptionId);
  const half = (Number(current_period_end) - opened.now().getTime()) / 2_000;
  opened.clock.advance({ seconds: half });
  await opened.provider.changePlan(
    { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' },
    newKey(),
  );
  const [, invoice] = await invoices();
  expect(invoice).toMatchObject({ reason: 'update', plan_key: 'large' });
  expect(Math.abs((invoice?.amount_paid_cents ?? 0) - 7_500)).toBeLessThanOrEqual(1);
});

test('the credit of a change pays later invoices before the card does', async () => {
  const { customer, subscriptionId } = await buy(opened, prices.large);
  await opened.provider.changePlan(
    { subscriptionId, fromPlanKey: 'large', price: prices.small, type: 'upgrade' },
    newKey(),
  );
  const { balance_cents } = await opened.provider.getCustomer(customer.id);
  expect(Math.abs(balance_cents + 15_000)).toBeLessThanOrEqual(1);
  for (const _ of [1, 2, 3, 4]) await after(31);
  const cycles = (await invoices()).filter(({ reason }) => reason === 'cycle');
  expect(cycles.map(({ amount_paid_cents, payment_id }) => [amount_paid_cents, payment_id === null])).toEqual([
    [0, true],
    [0, true],
    [0, true],
    [4 * 4_900 + balance_cents, false],
  ]);
  expect(await opened.provider.getCustomer(customer.id)).toMatchObject({ balance_cents: 0 });
});

test('a subscription that is covered by credit begins without a payment', async () => {
  const { customer, subscriptionId } = await buy(opened, prices.large);
  await opened.provider.changePlan(
    { subscriptionId, fromPlanKey: 'large', price: prices.small, type: 'upgrade' },
    newKey(),
  );
  const made = await opened.provider.createCheckout(checkoutOf(customer, prices.small), newKey());
  await opened.pay(made, 'authenticates');
  const { status, subscription_id } = await opened.provider.getCheckout(made.id);
  expect(status).toBe('complete');
  const invoice = (await invoices()).find((one) => one.subscription_id === subscription_id);
  expect(invoice).toMatchObject({
    status: 'paid',
    amount_paid_cents: 0,
    total_cents: 4_900,
    payment_id: null,
    receipt_url: null,
  });
});

test('a declined upgrade leaves a failed payment of a void invoice, and the same credit as before', async () => {
  const { customer, subscriptionId } = await buy(opened, prices.small);
  await worsenCard(customer.id);
  const key = newKey();
  const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
  for (const _ of ['first', 'repeated'])
    await expect(opened.provider.changePlan(change, key)).rejects.toEqual(refusal('declined'));
  const [, invoice, ...more] = await invoices();
  expect([invoice?.reason, invoice?.status, more]).toEqual(['update', 'void', []]);
  expect(await opened.provider.getPayment(invoice?.payment_id ?? '')).toMatchObject({
    status: 'failed',
    invoice_id: invoice?.id,
    plan_key: 'large',
  });
  expect(await opened.provider.getCustomer(customer.id)).toMatchObject({ balance_cents: 0 });
});

test('a checkout expires after a day, and accepts no payment afterwards', async () => {
  const made = await opened.provider.createCheckout(
    checkoutOf(await newCustomer(opened.provider), prices.small),
    newKey(),
  );
  await opened.pay(made, 'declined');
  opened.clock.advance({ days: 1, seconds: 1 });
  await opened.pay(made, 'succeeds');
  await opened.tick();
  expect(await opened.provider.getCheckout(made.id)).toMatchObject({
    status: 'expired',
    url: null,
    subscription_id: null,
  });
  expect((await invoices()).map(({ status }) => status)).toEqual(['void']);
  expect((await typesOf()).at(-1)).toBe('checkout.session.expired');
});

test('a key is forgotten after a month, not before', async () => {
  const [asked, key] = [{ accountId: 'acc_1', name: 'Acme' }, newKey()];
  const { id } = await opened.provider.createCustomer(asked, key);
  await after(29);
  expect((await opened.provider.createCustomer(asked, key)).id).toBe(id);
  await after(2);
  expect((await opened.provider.createCustomer(asked, key)).id).not.toBe(id);
});
