import { cancelSubscription, createCheckoutSession, listPayments } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

test('when two pages for a plan are opened before either is paid, no second subscription goes unnoticed', async () => {
  const tenant = await money.newTenant();
  const pages = [await money.checkout(tenant, 'starter'), await money.checkout(tenant, 'starter')];
  for (const page of pages) await money.pay(page);
  await money.settle();
  await tenant.owner.call(cancelSubscription);
  money.clock.advance({ days: 32 });
  await money.settle();
  const live = await money.rows(
    `SELECT status FROM subscriptions WHERE account_id = $1 AND status <> 'canceled'`,
    tenant.account,
  );
  expect(live).toEqual([]);
});

const openPages = (account: string) =>
  money.rows(`SELECT id FROM checkouts WHERE account_id = $1 AND status = 'open' ORDER BY id`, account);

test('of the pages to subscribe on only the newest stays open; those for token packs stay too', async () => {
  const tenant = await money.newTenant();
  const pack = await money.checkout(tenant, 'tokens_1000');
  const first = await money.checkout(tenant, 'starter');
  const second = await money.checkout(tenant, 'growth');
  expect((await openPages(tenant.account)).map(({ id }) => id)).toEqual([pack.id, second.id]);
  await money.pay(first);
  await money.settle();
  expect((await tenant.owner.call(listPayments)).body.entries).toEqual([]);
});

test('twenty concurrent requests leave at most one page', async () => {
  const tenant = await money.newTenant();
  const body = { mode: 'subscription', plan_key: 'starter' } as const;
  const twenty = Array.from({ length: 20 }, () => tenant.owner.call(createCheckoutSession, { body }));
  const statuses = new Set((await Promise.all(twenty)).map(({ status }) => status));
  expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([]);
  expect(await openPages(tenant.account)).toHaveLength(1);
});

test('409: a page that was paid while another was being opened wins, and the other is closed', async () => {
  const tenant = await money.newTenant();
  const first = await money.checkout(tenant, 'starter');
  await money.pay(first); // Its notification has not been delivered yet.
  const body = { mode: 'subscription', plan_key: 'growth' } as const;
  const late = await tenant.owner.call(createCheckoutSession, { body });
  expect(late.problem).toMatchObject({
    status: 409,
    detail: expect.stringContaining('has a subscription to "starter"'),
  });
  expect(await openPages(tenant.account)).toEqual([]);
});
