import { addPaymentMethod, changePlan, createCheckoutSession, getBillingSummary } from '@attribution/contracts';
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

const keyed = (tenant: Tenant, key = 'a-key') => tenant.owner.with({ headers: { 'idempotency-key': key } });
const pack = { mode: 'payment', plan_key: 'tokens_1000' } as const;
const buy = (tenant: Tenant, body: { mode: 'payment'; plan_key: string; return_url?: string } = pack) =>
  keyed(tenant).call(createCheckoutSession, { body });
const change = (tenant: Tenant, plan_key = 'growth') => keyed(tenant).call(changePlan, { body: { plan_key } });
const add = (tenant: Tenant) => keyed(tenant).call(addPaymentMethod);
const many = <T>(call: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, call));
/** Under which keys the provider was asked. */
const keysOf = (method: 'createCheckout' | 'changePlan' | 'createSetupIntent') =>
  new Set(faults.callsOf(method).map((given) => given.at(-1)));
async function subscriber(card?: 'fails_later') {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter', card);
  faults.mend();
  return tenant;
}
const otherRequest = { status: 409, kind: 'conflict', detail: 'Idempotency-Key: was used for another request.' };

test('201: a repeated checkout returns the same page, and the provider is called once', async () => {
  const tenant = await money.newTenant();
  const first = await buy(tenant);
  const again = await buy(tenant, { ...pack, ...{ unknown: true } });
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect(faults.callsOf('createCheckout').length).toBe(1);
  await money.pay(first.body);
  await money.settle();
  expect((await buy(tenant)).body).toEqual(first.body);
});

test('201: twenty concurrent repetitions of one checkout return one page', async () => {
  const tenant = await money.newTenant();
  const answers = await many(() => buy(tenant));
  for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
  expect(keysOf('createCheckout').size).toBe(1);
  expect((await money.rows('SELECT 1 FROM checkouts WHERE account_id = $1', tenant.account)).length).toBe(1);
});

test('201: after a lost response, a repetition returns the existing page', async () => {
  const tenant = await money.newTenant();
  faults.loseAnswer('createCheckout');
  expect((await buy(tenant)).status).toBe(502);
  const [lost] = keysOf('createCheckout');
  faults.mend();
  const { status, body } = await buy(tenant);
  expect([status, body.id, [...keysOf('createCheckout')]]).toEqual([201, lost, [lost]]);
  await money.pay(body);
  await money.settle();
  expect((await money.paymentsOf(tenant)).length).toBe(1);
});

test('409: the key of a different checkout; without a key, or by another account, it is a new page', async () => {
  const [tenant, other] = [await money.newTenant(), await money.newTenant()];
  const first = await buy(tenant);
  for (const over of [{ plan_key: 'tokens_10000' }, { return_url: 'https://example.com/' }])
    expect((await buy(tenant, { ...pack, ...over })).problem).toMatchObject(otherRequest);
  for (const answer of [await buy(other), await tenant.owner.call(createCheckoutSession, { body: pack })]) {
    expect(answer.status).toBe(201);
    expect(answer.body.id).not.toBe(first.body.id);
  }
});

test('201: a key can be reused after 24 h', async () => {
  const tenant = await money.newTenant();
  const first = await buy(tenant);
  money.clock.advance({ days: 1 });
  const anew = await buy(tenant);
  expect(anew.status).toBe(201);
  expect(anew.body.id).not.toBe(first.body.id);
});

test('404, 409: a refusal is not stored: the next request under the key is a new attempt', async () => {
  const tenant = await money.newTenant();
  await money.db.query(`UPDATE plan_prices SET active = false WHERE plan_key = 'tokens_1000'`);
  expect((await buy(tenant)).status).toBe(404);
  await money.db.query('UPDATE plan_prices SET active = true');
  faults.fail('createCheckout', 'refused');
  expect((await buy(tenant)).status).toBe(409);
  const [refused] = keysOf('createCheckout');
  faults.mend();
  const { status, body } = await buy(tenant);
  expect(status).toBe(201);
  expect(body.id).not.toBe(refused);
});

test('200: a repeated change of plan returns the same, and changes once', async () => {
  const tenant = await subscriber();
  const first = await change(tenant);
  await tenant.owner.call(changePlan, { body: { plan_key: 'starter' } });
  const again = await change(tenant);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect((await tenant.owner.call(getBillingSummary)).body.active_subscription).toMatchObject({ plan_key: 'starter' });
  expect((await change(tenant, 'enterprise')).problem).toMatchObject(otherRequest);
  await money.settle();
  expect((await money.paymentsOf(tenant)).length).toBe(2);
});

test('200: twenty concurrent repetitions of one change of plan are one upgrade, charged once', async () => {
  const tenant = await subscriber();
  const answers = await many(() => change(tenant));
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  expect(keysOf('changePlan').size).toBe(1);
  await money.settle();
  expect((await money.paymentsOf(tenant)).length).toBe(2);
  expect((await money.rows('SELECT 1 FROM plan_changes WHERE account_id = $1', tenant.account)).length).toBe(1);
});

test.each([false, true])(
  '200: after a lost response, a repetition returns upgrade, and changes once (notified meanwhile: %p)',
  async (notified) => {
    const tenant = await subscriber();
    faults.loseAnswer('changePlan');
    expect((await change(tenant)).status).toBe(502);
    const [lost] = keysOf('changePlan');
    faults.mend();
    if (notified) await money.settle();
    const { status, body } = await change(tenant);
    expect([status, body]).toMatchObject([200, { plan_key: 'growth', change_type: 'upgrade', status: 'active' }]);
    expect([...keysOf('changePlan')]).toEqual([lost]);
    await money.settle();
    expect((await money.paymentsOf(tenant)).length).toBe(2);
  },
);

test('200: a repetition during the change is that change, not a change to the current plan', async () => {
  const tenant = await subscriber();
  const held = await money.db.connect();
  await held.query('BEGIN; LOCK TABLE subscriptions');
  const answer = change(tenant);
  const attempt = await eventually(async () => {
    const waiting = await held.query(
      `SELECT 1 FROM pg_locks WHERE relation = 'subscriptions'::regclass AND NOT granted`,
    );
    expect(waiting.rowCount).toBeGreaterThan(0);
    const { rows } = await held.query('SELECT resource_id FROM idempotency_keys WHERE account_id = $1', [
      tenant.account,
    ]);
    return String(rows[0]?.resource_id);
  });
  // What the concurrent request does meanwhile.
  const subscription = 'FROM subscriptions WHERE account_id = $2';
  await held.query(
    `INSERT INTO plan_changes SELECT $1, account_id, provider_subscription_id, plan_key, 'growth', 'upgrade', now() ${subscription}`,
    [attempt, tenant.account],
  );
  await held.query(`UPDATE subscriptions SET plan_key = 'growth' WHERE account_id = $1`, [tenant.account]);
  await held.query('COMMIT');
  held.release();
  expect((await answer).body).toMatchObject({ plan_key: 'growth', change_type: 'upgrade' });
  await money.settle();
});

test('409: a declined card is not stored: with another card the same request succeeds', async () => {
  const tenant = await subscriber('fails_later');
  expect((await change(tenant)).problem).toMatchObject({
    status: 409,
    detail: 'The payment was declined: nothing was changed.',
  });
  const setup = (await tenant.owner.call(addPaymentMethod)).body;
  await money.saveCard(setup.client_secret, 'succeeds');
  await money.settle();
  expect((await change(tenant)).body).toMatchObject({ plan_key: 'growth', change_type: 'upgrade' });
});

test('409: a repeated new payment method names the existing one; its secret is neither returned again nor stored', async () => {
  const tenant = await money.newTenant();
  const { body } = await add(tenant);
  const detail = `Idempotency-Key: this request was done, and made ${body.id}. Its answer held a secret, which is shown once.`;
  expect((await add(tenant)).problem).toMatchObject({ status: 409, kind: 'conflict', detail });
  expect(faults.callsOf('createSetupIntent').length).toBe(1);
  const kept = await money.rows('SELECT * FROM idempotency_keys WHERE account_id = $1', tenant.account);
  expect(kept).toMatchObject([{ resource_id: body.id, answer: {} }]);
  expect(JSON.stringify(kept)).not.toContain('_secret_');
});

test('201: twenty new payment methods under one key at once are one at the provider', async () => {
  const tenant = await money.newTenant();
  const answers = await many(() => add(tenant));
  expect(keysOf('createSetupIntent').size).toBe(1);
  const made = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id));
  expect(made.size).toBe(1);
  for (const { status } of answers) expect([201, 409]).toContain(status);
});

test('201: after a lost response, a repetition returns the secret that was never received', async () => {
  const tenant = await money.newTenant();
  faults.loseAnswer('createSetupIntent');
  expect((await add(tenant)).status).toBe(502);
  const [lost] = keysOf('createSetupIntent');
  faults.mend();
  const { status, body } = await add(tenant);
  expect([status, [...keysOf('createSetupIntent')]]).toEqual([201, [lost]]);
  await money.saveCard(body.client_secret, 'succeeds');
  await money.settle();
});
