import { createCheckoutSession } from '@attribution/contracts';
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

const create = (tenant: Tenant, body: unknown) => tenant.owner.call(createCheckoutSession, { body: body as never });
const countOf = async (table: string, { account }: Tenant) =>
  (await money.rows(`SELECT 1 FROM ${table} WHERE account_id = $1`, account)).length;
const pack = { mode: 'payment', plan_key: 'tokens_1000' };

test.each<[unknown, RegExp]>([
  [undefined, /^body: is required/],
  [[], /^body: must be an object/],
  [{ plan_key: 'starter' }, /^body\.mode: /],
  [{ ...pack, mode: 'setup' }, /^body\.mode: must be one of payment, subscription, not "setup"/],
  [{ ...pack, mode: null }, /^body\.mode: /],
  [{ mode: 'payment' }, /^body\.plan_key: /],
  [{ ...pack, plan_key: '' }, /^body\.plan_key: /],
  [{ ...pack, plan_key: 7 }, /^body\.plan_key: must be text, not 7/],
  [{ ...pack, plan_key: 'x'.repeat(101) }, /^body\.plan_key: /],
  [{ ...pack, return_url: '/billing' }, /^body\.return_url: must be a URL/],
  [{ ...pack, return_url: 'app.example.com' }, /^body\.return_url: must be a URL/],
  [{ ...pack, return_url: 'javascript:alert(1)' }, /^body\.return_url: must be a URL/],
  [{ ...pack, return_url: 'data:text/html,x' }, /^body\.return_url: must be a URL/],
  [{ ...pack, return_url: 'ftp://example.com/' }, /^body\.return_url: must be a URL/],
  [{ ...pack, return_url: `https://example.com/${'x'.repeat(2000)}` }, /^body\.return_url: /],
  [{ ...pack, return_url: null }, /^body\.return_url: /],
  [{ ...pack, return_url: 'https://example.com/' }, /^body\.return_url: must begin with http:\/\/localhost:3000\/\.$/],
  [{ ...pack, return_url: 'https://localhost:3000/' }, /^body\.return_url: must begin with /],
  [{ ...pack, return_url: 'http://localhost:3000@example.com/' }, /^body\.return_url: must begin with /],
  [{ ...pack, return_url: 'http://localhost:30000/' }, /^body\.return_url: must begin with /],
])('400: a checkout of %j', async (body, detail) => {
  const tenant = await money.newTenant();
  const { status, problem } = await create(tenant, body);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', expect.stringMatching(detail)]);
  expect([await countOf('checkouts', tenant), faults.callsOf('createCustomer')]).toEqual([0, []]);
});

test('400: a token pack cannot be subscribed to, and a plan cannot be bought once', async () => {
  const tenant = await money.newTenant();
  for (const [mode, plan_key, detail] of [
    ['subscription', 'tokens_1000', 'body.mode: "tokens_1000" is a token pack, whose mode is payment.'],
    ['payment', 'starter', 'body.mode: "starter" is a plan, whose mode is subscription.'],
  ])
    expect((await create(tenant, { mode, plan_key })).problem).toMatchObject({ status: 400, detail });
  expect(await countOf('checkouts', tenant)).toBe(0);
});

test('404: a plan key that does not exist, or is no longer for sale', async () => {
  const tenant = await money.newTenant();
  await money.db.query(`UPDATE plan_prices SET active = false WHERE plan_key = 'tokens_10000'`);
  for (const plan_key of ['tokens_7', 'Tokens_1000', 'tokens_10000', "' OR 1=1 --"]) {
    const detail = `body.plan_key: there is no plan or token pack ${JSON.stringify(plan_key)}.`;
    expect((await create(tenant, { ...pack, plan_key })).problem).toMatchObject({ status: 404, detail });
  }
  await money.db.query('UPDATE plan_prices SET active = true');
  expect([await countOf('checkouts', tenant), faults.callsOf('createCustomer')]).toEqual([0, []]);
});

test('409: a second subscription while the first is live, on any plan; token packs can still be bought', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  for (const plan_key of ['starter', 'growth']) {
    const detail = 'The account has a subscription to "starter": change its plan instead.';
    expect((await create(tenant, { mode: 'subscription', plan_key })).problem).toMatchObject({ status: 409, detail });
  }
  await money.db.query(`UPDATE subscriptions SET status = 'past_due' WHERE account_id = $1`, [tenant.account]);
  expect((await create(tenant, { mode: 'subscription', plan_key: 'growth' })).status).toBe(409);
  expect((await create(tenant, pack)).status).toBe(201);
});

test.each(['createCustomer', 'createCheckout'] as const)(
  '502: while the provider does not respond to %s, no checkout can be created; afterwards it can',
  async (method) => {
    const tenant = await money.newTenant();
    faults.fail(method);
    const { status, headers, problem } = await create(tenant, pack);
    expect([status, headers.get('retry-after')]).toEqual([502, '1']);
    expect(problem).toMatchObject({
      kind: 'upstream-error',
      detail: 'The payment provider did not answer. Try again: nothing is charged twice.',
    });
    faults.mend();
    expect((await money.buy(tenant, 'tokens_1000')).status).toBe('complete');
    expect((await money.paymentsOf(tenant)).length).toBe(1);
  },
);

test('409: a refusal by the provider is reported, without another attempt', async () => {
  const tenant = await money.newTenant();
  faults.fail('createCheckout', 'refused');
  expect((await create(tenant, pack)).problem).toMatchObject({
    status: 409,
    detail: 'The payment provider refuses this as things stand.',
  });
  expect(faults.callsOf('createCheckout').length).toBe(1);
});

test('503: while the database fails, the response does not reveal why, and the provider is not called', async () => {
  const tenant = await money.newTenant();
  await money.db.query('ALTER TABLE checkouts RENAME TO checkouts_away');
  const { status, headers, problem } = await create(tenant, pack);
  await money.db.query('ALTER TABLE checkouts_away RENAME TO checkouts');
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect(problem?.detail).toBe('The service could not answer for now. Try again.');
  expect(faults.callsOf('createCheckout')).toEqual([]);
  expect((await create(tenant, pack)).status).toBe(201);
});
