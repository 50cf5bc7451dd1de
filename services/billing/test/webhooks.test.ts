import { newId } from '@attribution/ids';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';
import { eventsOf, notification, secondsOf, sendWebhook } from './support-webhooks.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
beforeEach(() => faults.mend());
afterAll(() => money.stop());

/** The ids at the provider for a payment that was made on a page, before any notification. */
async function paidWithoutNotification(tenant: Tenant) {
  await money.pay(await money.checkout(tenant, 'tokens_1000'));
  const [customer] = await money.rows(
    'SELECT provider_customer_id AS id FROM customers WHERE account_id = $1',
    tenant.account,
  );
  for await (const { id } of money.provider.listPayments(String(customer?.id))) return id;
  throw new Error('Nothing was paid');
}
const notificationOf = (id: string, over: object = {}) =>
  notification('payment_intent.succeeded', { id, object: 'payment_intent' }, over);
const done = (id: string) =>
  eventually(async () => {
    const events = await eventsOf(money, id);
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) expect(event).toMatchObject({ due_at: null, error: null });
    return events;
  });

test('200: a thousand replays of one notification are one row and one effect', async () => {
  const tenant = await money.newTenant();
  const id = await paidWithoutNotification(tenant);
  const body = notificationOf(id);
  for (let i = 0; i < 20; i++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => sendWebhook(money, body)));
    for (const { status, text } of answers) expect([status, text]).toEqual([200, '']);
  }
  // The provider's own notification may have been found in its list meanwhile.
  const { id: sent } = JSON.parse(body) as { id: string };
  expect((await done(id)).filter((event) => event.id === sent)).toHaveLength(1);
  expect([(await money.paymentsOf(tenant)).length, (await money.entriesOf(tenant)).length]).toEqual([1, 1]);
  expect((await money.events(tenant, 1)).length).toBe(1);
  expect(faults.callsOf('getPayment').length).toBeLessThan(10);
});

test('200: a hundred concurrent notifications of one object have one effect', async () => {
  const tenant = await money.newTenant();
  const id = await paidWithoutNotification(tenant);
  const answers = await Promise.all(Array.from({ length: 100 }, () => sendWebhook(money, notificationOf(id))));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await done(id)).length).toBeGreaterThanOrEqual(100);
  expect((await money.entriesOf(tenant)).length).toBe(1);
  expect((await money.events(tenant, 1)).length).toBe(1);
});

test('200: the content of a notification is not used: the state at the provider counts', async () => {
  const tenant = await money.newTenant();
  const id = await paidWithoutNotification(tenant);
  const lies = { id, object: 'payment_intent', amount: 1, status: 'canceled', metadata: { plan_key: 'enterprise' } };
  await sendWebhook(money, notification('payment_intent.payment_failed', lies));
  await done(id);
  expect(await money.paymentsOf(tenant)).toMatchObject([
    { status: 'succeeded', amount_cents: 900, token_amount: 1_000 },
  ]);
});

test.each<[string, object, object]>([
  ['of an unknown type', { id: 'prod_2', object: 'product' }, { type: 'product.discovered' }],
  ['of an object without an id', { object: 'balance' }, { type: 'balance.available' }],
  ['without an object', {}, {}],
  ['of another API version', { id: 'prod_1', object: 'product' }, { api_version: '2031-01-01.other' }],
  [
    'with fields that nobody knows',
    { id: 'x_1', object: 'thing', more: { and: ['more'] } },
    { request: null, more: 1 },
  ],
])('200: a notification %s is written down, and nothing is done', async (_, object, over) => {
  const id = `evt_${newId('payment')}`;
  expect((await sendWebhook(money, notification('some.type', object, { id, ...over }))).status).toBe(200);
  expect(await money.rows('SELECT object_kind, due_at FROM provider_events WHERE id = $1', id)).toEqual([
    { object_kind: 'other', due_at: null },
  ]);
});

test('200: a known object in an unknown type of event, or in another API version, is fetched all the same', async () => {
  const tenant = await money.newTenant();
  const id = await paidWithoutNotification(tenant);
  const object = { id, object: 'payment_intent' };
  await sendWebhook(money, notification('payment_intent.blessed', object, { api_version: '2031-01-01.other' }));
  await done(id);
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'succeeded' }]);
});

test('200: an object without one of our accounts changes nothing', async () => {
  const accountId = newId('account');
  const { id: customerId } = await money.provider.createCustomer({ accountId, name: 'Stranger' }, accountId);
  const price = {
    plan_key: 'starter',
    name: 'Starter',
    amount_cents: 4_900,
    currency: 'usd',
    interval: 'month',
  } as const;
  const asked = { customerId, mode: 'subscription', price, returnUrl: 'https://example.com/' } as const;
  const reference = newId('checkout_session');
  const { url } = await money.provider.createCheckout({ ...asked, reference, accountId }, reference);
  await money.settle();
  const before = await everything();
  await money.pay({ url: url ?? '' });
  await money.settle();
  expect(await everything()).toEqual(before);
  expect(faults.callsOf('getCheckout').length).toBeGreaterThan(0);
});

test('200: an object that names an account, but belongs to another customer, is not that account’s', async () => {
  const [tenant, other] = [await money.newTenant(), await money.newTenant()];
  await money.buy(tenant, 'tokens_1000');
  await money.checkout(other, 'tokens_1000');
  const [mine] = await money.rows(
    'SELECT provider_customer_id AS id FROM customers WHERE account_id = $1',
    tenant.account,
  );
  const price = { plan_key: 'tokens_1000', name: '1,000 tokens', amount_cents: 900, currency: 'usd', interval: null };
  const asked = { customerId: String(mine?.id), mode: 'payment', price, returnUrl: 'https://example.com/' } as const;
  const reference = newId('checkout_session');
  const { url } = await money.provider.createCheckout({ ...asked, reference, accountId: other.account }, reference);
  await money.pay({ url: url ?? '' });
  await money.settle();
  expect(await money.paymentsOf(other)).toEqual([]);
  expect((await money.paymentsOf(tenant)).length).toBe(2);
});

test.each(['payment_intent', 'invoice', 'subscription', 'refund', 'checkout.session', 'setup_intent'])(
  '200: a %s that the provider does not have is dropped, and not fetched again and again',
  async (object) => {
    const id = `x_${newId('payment')}`;
    expect((await sendWebhook(money, notification(`${object}.updated`, { id, object }))).status).toBe(200);
    expect(await done(id)).toMatchObject([{ attempts: 0 }]);
  },
);

test('200: a notification that arrives days late, after everything has changed, changes nothing', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  const [payment] = await money.rows(
    'SELECT provider_payment_id AS id FROM payments WHERE account_id = $1',
    tenant.account,
  );
  await money.refund(tenant, { amount_cents: 100 });
  await money.settle();
  const before = [
    await money.paymentsOf(tenant),
    await money.entriesOf(tenant),
    (await money.events(tenant, 2)).length,
  ];
  money.clock.advance({ days: 3 });
  const id = String(payment?.id);
  await sendWebhook(money, notificationOf(id, { created: secondsOf(money) - 3 * 86_400 }));
  await done(id);
  expect([
    await money.paymentsOf(tenant),
    await money.entriesOf(tenant),
    (await money.events(tenant, 2)).length,
  ]).toEqual(before);
});

async function everything() {
  const tables = ['customers', 'checkouts', 'payments', 'refunds', 'subscriptions', 'money_entries'];
  return Promise.all(tables.map((table) => money.rows(`SELECT * FROM ${table} ORDER BY 1`)));
}

test('changes by a notification or a request are published in its trace', async () => {
  const tenant = await money.newTenant();
  const [brought, asked] = ['a'.repeat(32), 'b'.repeat(32)];
  const traceparent = (trace: string) => ({ traceparent: `00-${trace}-${'c'.repeat(16)}-00` });
  const body = notificationOf(await paidWithoutNotification(tenant));
  await sendWebhook(money, body, undefined, traceparent(brought));
  await money.events(tenant, 1);
  await money.refund(tenant, {}, traceparent(asked));
  const traces = (await money.events(tenant, 2)).map(({ type, traceparent: at }) => [type, at?.split('-')[1]]);
  expect(traces.slice(0, 2)).toEqual([
    ['payment.succeeded', brought],
    [expect.stringMatching(/^refund/), asked],
  ]);
});
