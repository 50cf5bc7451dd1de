import { createCheckoutSession, getCheckoutSession } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { look, send } from './simulated-support.ts';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
const faults = createFaults();
const environment = {
  APP_URL: 'https://app.example.test/home',
  RETURN_ORIGINS: 'https://app.example.test, https://shop.example.test/',
};
beforeAll(async () => {
  money = await startMoney({ between: faults.between, environment });
});
afterAll(() => money.stop());

const create = (tenant: Tenant, body: object) => tenant.owner.call(createCheckoutSession, { body: body as never });
const statusOf = (tenant: Tenant, id: string) => tenant.owner.call(getCheckoutSession, { params: { id } });

test('201: a token pack: the page shows the price, and returns to the given URL', async () => {
  const tenant = await money.newTenant();
  const return_url = 'https://shop.example.test/back?from=billing';
  const { status, body } = await create(tenant, { mode: 'payment', plan_key: 'tokens_1000', return_url });
  expect([status, body.id]).toEqual([201, expect.stringMatching(/^cs_/)]);
  expect((await look(body.url)).text).toContain('$9.00');
  const paid = await money.pay(body);
  expect(paid.location ?? (await look(body.url)).text).toContain('shop.example.test/back');
});

test('201: a plan; without a return_url the page returns to the app', async () => {
  const tenant = await money.newTenant();
  const { status, body } = await create(tenant, { mode: 'subscription', plan_key: 'starter' });
  expect([status, Object.keys(body).sort()]).toEqual([201, ['id', 'url']]);
  const [row] = await money.rows('SELECT * FROM checkouts WHERE id = $1', body.id);
  expect(row).toMatchObject({
    account_id: tenant.account,
    mode: 'subscription',
    plan_key: 'starter',
    return_url: null,
  });
  expect(faults.callsOf('createCheckout').at(-1)).toMatchObject([
    { returnUrl: 'https://app.example.test/home' },
    body.id,
  ]);
});

test('201: an account without an event yet becomes a customer, and is created at the provider once', async () => {
  faults.mend();
  const tenant = await money.newTenant();
  await money.db.query('DELETE FROM customers WHERE account_id = $1', [tenant.account]);
  for (let i = 0; i < 2; i++) await money.checkout(tenant, 'tokens_1000');
  expect(faults.callsOf('createCustomer').map(([, key]) => key)).toEqual([`customer-${tenant.account}`]);
  const ids = await money.rows('SELECT provider_customer_id FROM customers WHERE account_id = $1', tenant.account);
  expect(ids).toEqual([{ provider_customer_id: expect.stringMatching(/^cus_/) }]);
});

test('201: twenty first checkouts at once are twenty pages of one customer', async () => {
  const tenant = await money.newTenant();
  const pages = await Promise.all(Array.from({ length: 20 }, () => money.checkout(tenant, 'tokens_1000')));
  expect(new Set(pages.map(({ url }) => url)).size).toBe(20);
  const customers = faults.callsOf('createCheckout').slice(-20) as [{ customerId: string }][];
  expect(new Set(customers.map(([{ customerId }]) => customerId)).size).toBe(1);
});

test('201: a customer can buy again, and can subscribe again after a subscription has ended', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  await money.buy(tenant, 'tokens_1000');
  await money.buy(tenant, 'starter');
  await money.db.query(`UPDATE subscriptions SET status = 'canceled' WHERE account_id = $1`, [tenant.account]);
  expect((await create(tenant, { mode: 'subscription', plan_key: 'growth' })).status).toBe(201);
});

test('200: a checkout is open until it is paid, and then complete', async () => {
  const tenant = await money.newTenant();
  const page = await money.checkout(tenant, 'starter');
  expect((await statusOf(tenant, page.id)).body).toEqual({ id: page.id, status: 'open' });
  await money.pay(page);
  await money.settle();
  expect((await statusOf(tenant, page.id)).body).toEqual({ id: page.id, status: 'complete' });
});

test('200: a checkout with a 3-D Secure question is open until its holder has answered', async () => {
  const tenant = await money.newTenant();
  const page = await money.checkout(tenant, 'tokens_1000');
  await money.pay(page, 'authenticates');
  await money.settle();
  expect((await statusOf(tenant, page.id)).body.status).toBe('open');
  await send(page.url, { action: 'confirm' });
  await money.settle();
  expect((await statusOf(tenant, page.id)).body.status).toBe('complete');
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'succeeded', amount_cents: 900 }]);
});

test('200: an unpaid checkout expires after 24 h, and not before; a paid one does not', async () => {
  const tenant = await money.newTenant();
  const paid = await money.checkout(tenant, 'tokens_1000');
  const left = await money.checkout(tenant, 'tokens_1000');
  await money.pay(paid);
  money.clock.advance({ minutes: 24 * 60 - 2 });
  await money.settle();
  expect((await statusOf(tenant, left.id)).body.status).toBe('open');
  money.clock.advance({ minutes: 3 });
  await money.settle();
  expect((await statusOf(tenant, left.id)).body).toEqual({ id: left.id, status: 'expired' });
  expect((await statusOf(tenant, paid.id)).body.status).toBe('complete');
  await money.pay(left);
  await money.settle();
  expect((await money.paymentsOf(tenant)).length).toBe(1);
});

test('404: a checkout of another account, an unknown and a malformed id get the same response', async () => {
  const [tenant, other] = [await money.newTenant(), await money.newTenant()];
  const { id } = await money.checkout(other, 'tokens_1000');
  const answers: Awaited<ReturnType<typeof statusOf>>[] = [];
  for (const asked of [id, newId('checkout_session'), newId('payment'), 'cs_1', '%00', 'x'.repeat(500)])
    answers.push(await statusOf(tenant, asked));
  for (const { status, problem } of answers) expect([status, problem]).toEqual([404, answers[0]?.problem]);
});
