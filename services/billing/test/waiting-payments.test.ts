import { changePlan, getBillingSummary, getCheckoutSession } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CardName, look, send } from './simulated-support.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

/** A new account with a plan, whose card asks for its holder each time. */
async function subscriber(card: CardName = 'authenticates_always') {
  const tenant = await money.newTenant();
  const page = await money.checkout(tenant, 'starter');
  await money.pay(page, card);
  await send(page.url, { action: 'confirm' });
  await money.settle();
  return tenant;
}
const upgrade = (tenant: Tenant, plan_key = 'growth') => tenant.owner.call(changePlan, { body: { plan_key } });
const plan = async (tenant: Tenant) => (await tenant.owner.call(getBillingSummary)).body.active_subscription;
const told = async (tenant: Tenant) =>
  (await money.allEvents(tenant)).filter(({ type }) => /^(payment|invoice)/.test(type));
const typesOf = async (tenant: Tenant) => (await told(tenant)).map(({ type }) => type);
/** The page that the latest mail leads to. */
async function pageOf(tenant: Tenant): Promise<string> {
  const { data } = (await told(tenant)).findLast(({ type }) => type === 'payment.waits') ?? {};
  return String((data as { page_url?: string } | undefined)?.page_url);
}
const statuses = async (tenant: Tenant) => (await money.paymentsOf(tenant)).map(({ status }) => status);

test('200: an upgrade that waits for the holder is incomplete, and keeps the plan; confirmed on its page it takes effect once', async () => {
  const tenant = await subscriber();
  const before = await plan(tenant);
  const { status, body } = await upgrade(tenant);
  expect([status, body]).toEqual([
    200,
    { ...before, plan_key: 'starter', change_type: 'upgrade', status: 'incomplete' },
  ]);
  expect((await upgrade(tenant)).body).toEqual(body);
  await money.settle();
  expect(await plan(tenant)).toEqual(before);
  expect(await statuses(tenant)).toEqual(['pending', 'succeeded']);
  const [waits] = (await told(tenant)).filter(({ type }) => type === 'payment.waits');
  expect(waits?.data).toMatchObject({ plan_key: 'growth', description: 'Growth', expires_at: expect.any(String) });
  expect(await money.entriesOf(tenant)).toHaveLength(1);

  const page = await pageOf(tenant);
  expect((await look(page)).text).toContain('Yes, it is me');
  await Promise.all([1, 2, 3].map(() => send(page, { action: 'confirm' })));
  await money.settle();
  expect(await plan(tenant)).toMatchObject({ plan_key: 'growth', status: 'active' });
  expect(await statuses(tenant)).toEqual(['succeeded', 'succeeded']);
  expect(await typesOf(tenant)).toEqual(['invoice.paid', 'payment.waits', 'invoice.paid']);
  expect(await money.entriesOf(tenant)).toHaveLength(2);
  expect((await look(page)).text).toContain('It is paid');
});

test('an upgrade that nobody confirms lapses after 23 hours, and says so; the plan stays', async () => {
  const tenant = await subscriber();
  await upgrade(tenant);
  await money.settle();
  const page = await pageOf(tenant);
  money.clock.advance({ minutes: 23 * 60 - 5 });
  await money.settle();
  expect(await statuses(tenant)).toEqual(['pending', 'succeeded']);
  money.clock.advance({ minutes: 10 });
  await money.settle();
  expect(await plan(tenant)).toMatchObject({ plan_key: 'starter', status: 'active' });
  expect(await statuses(tenant)).toEqual(['failed', 'succeeded']);
  const last = (await told(tenant)).at(-1);
  expect([last?.type, last?.data]).toEqual([
    'payment.failed',
    expect.objectContaining({ reason: 'It was not confirmed in time, or another change took its place.' }),
  ]);
  expect((await send(page, { action: 'confirm' })).status).toBe(410);
  await money.settle();
  expect(await money.entriesOf(tenant)).toHaveLength(1);
});

test('one that its holder refuses has failed; another change takes the place of one that waits', async () => {
  const tenant = await subscriber();
  await upgrade(tenant);
  await money.settle();
  expect((await send(await pageOf(tenant), { action: 'refuse' })).status).toBe(402);
  await money.settle();
  expect(await statuses(tenant)).toEqual(['failed', 'succeeded']);
  expect((await upgrade(tenant, 'enterprise')).body).toMatchObject({ plan_key: 'starter', status: 'incomplete' });
  await money.settle();
  await send(await pageOf(tenant), { action: 'confirm' });
  await money.settle();
  expect(await plan(tenant)).toMatchObject({ plan_key: 'enterprise', status: 'active' });
});

test('a renewal that waits keeps the plan, past due; its mail is sent once, and once it is confirmed it is paid', async () => {
  const tenant = await subscriber();
  money.clock.advance({ days: 32 });
  await money.settle();
  expect(await plan(tenant)).toMatchObject({ plan_key: 'starter', status: 'past_due' });
  expect(await statuses(tenant)).toEqual(['pending', 'succeeded']);
  money.clock.advance({ days: 4 });
  await money.settle();
  expect(await typesOf(tenant)).toEqual(['invoice.paid', 'payment.waits']);
  await send(await pageOf(tenant), { action: 'confirm' });
  await money.settle();
  expect(await plan(tenant)).toMatchObject({ plan_key: 'starter', status: 'active' });
  expect(await typesOf(tenant)).toEqual(['invoice.paid', 'payment.waits', 'invoice.paid']);
});

test('a renewal that nobody confirms ends the subscription with its last attempt, and says so', async () => {
  const tenant = await subscriber();
  for (const days of [32, 4, 6, 8]) {
    money.clock.advance({ days });
    await money.settle();
  }
  expect(await plan(tenant)).toMatchObject({ status: 'canceled' });
  expect(await typesOf(tenant)).toEqual(['invoice.paid', 'payment.waits', 'payment.failed']);
});

test.each([
  ['pays_late', 'complete', 'succeeded', 'payment.succeeded'],
  ['fails_late', 'expired', 'failed', 'payment.failed'],
] as const)('a checkout by a bank account that %s is open until then, and %s afterwards', async (card, ...expected) => {
  const tenant = await money.newTenant();
  const { id, url } = await money.checkout(tenant, 'tokens_1000');
  await money.pay({ url }, card);
  await money.settle();
  const now = async () => (await tenant.owner.call(getCheckoutSession, { params: { id } })).body.status;
  expect([await now(), await statuses(tenant)]).toEqual(['open', ['pending']]);
  expect((await look(url)).text).toContain('once the money is there');
  await money.pay({ url }, 'succeeds'); // The page is complete.
  money.clock.advance({ days: 4 });
  await money.settle();
  const [checkout, payment, event] = expected;
  expect([await now(), await statuses(tenant), await typesOf(tenant)]).toEqual([checkout, [payment], [event]]);
});
