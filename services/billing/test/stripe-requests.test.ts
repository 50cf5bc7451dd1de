import { afterEach, expect, test } from '@jest/globals';
import type { CatalogueEntry } from '../src/provider/payment-provider.ts';
import type { StripeProviderOptions } from '../src/provider/stripe/index.ts';
import { type Asked, fault, list, type StripeDouble, send, startStripeDouble } from './stripe-double.ts';

const plan: CatalogueEntry = {
  plan_key: 'growth',
  name: 'Growth',
  amount_cents: 19_900,
  currency: 'usd',
  interval: 'month',
};
const pack: CatalogueEntry = {
  plan_key: 'tokens_1000',
  name: 'Tokens',
  amount_cents: 900,
  currency: 'usd',
  interval: null,
};
const priceOf = ({ plan_key, amount_cents, currency, interval, name }: CatalogueEntry, changes = {}) => ({
  id: `price_${plan_key}`,
  object: 'price',
  lookup_key: plan_key,
  metadata: { plan_key },
  unit_amount: amount_cents,
  currency,
  recurring: interval && { interval, interval_count: 1 },
  product: { id: 'prod_1', object: 'product', name },
  ...changes,
});
const starter = { ...plan, plan_key: 'starter', amount_cents: 4_900 };
const subscription = {
  id: 'sub_1',
  object: 'subscription',
  customer: 'cus_1',
  status: 'active',
  items: list([{ id: 'si_1', price: priceOf(starter), current_period_end: 1_800_000_000 }]),
  metadata: { account_id: 'acc_1', plan_key: 'starter' },
  cancel_at: null,
  cancel_at_period_end: false,
  created: 1_700_000_000,
};
const upgraded = {
  ...subscription,
  items: list([{ id: 'si_1', price: priceOf(plan), current_period_end: 1_800_000_000 }]),
};
const change = { subscriptionId: 'sub_1', fromPlanKey: 'starter', price: plan, type: 'upgrade' as const };

let double: StripeDouble;
afterEach(() => double.stop());

/** Responds by method and path; any other request is an error of the test. */
async function answering(answers: Readonly<Record<string, unknown>>, options: Partial<StripeProviderOptions> = {}) {
  double = await startStripeDouble(({ method, path }, response) => {
    const answer = answers[`${method} ${path.replace(/\?.*/, '').replace('/v1', '')}`];
    if (answer === undefined) send(response, 404, fault({ type: 'invalid_request_error', code: 'resource_missing' }));
    else send(response, 200, answer);
  });
  return double.provider(options);
}

const writes = () => double.asked.filter(({ method }) => method !== 'GET');
const keyOf = (asked: Asked | undefined) => asked?.headers['idempotency-key'];

test('every request names the API version that the mappings are written for', async () => {
  const stripe = await answering({ 'GET /customers/cus_1': { id: 'cus_1', balance: 0 } });
  await stripe.getCustomer('cus_1');
  expect(double.asked[0]?.headers['stripe-version']).toBe('2026-10-28.endive');
  expect(double.asked[0]?.headers).not.toHaveProperty('x-stripe-client-telemetry');
});

test.each([
  ['payment', pack, 'payment_intent_data'],
  ['subscription', plan, 'subscription_data'],
] as const)(
  'a checkout of a %s writes our ids on the session and on the objects that result from it',
  async (mode, price, what) => {
    const session = { id: 'cs_test_1', status: 'open', mode, url: 'https://checkout', metadata: {} };
    const stripe = await answering({ 'GET /prices': list([priceOf(price)]), 'POST /checkout/sessions': session });
    const returnUrl = 'https://app.example/billing?from=checkout';
    const checkout = { customerId: 'cus_1', mode, price, returnUrl, reference: 'cs_1', accountId: 'acc_1' };
    await stripe.createCheckout(checkout, 'checkout-key');
    const [asked, ...others] = writes();
    expect(others).toEqual([]);
    expect(keyOf(asked)).toBe('checkout-key');
    const notes = (at: string) => ({
      [`${at}[account_id]`]: 'acc_1',
      [`${at}[reference]`]: 'cs_1',
      [`${at}[plan_key]`]: price.plan_key,
    });
    expect(asked?.params).toEqual({
      ...notes('metadata'),
      ...notes(`${what}[metadata]`),
      customer: 'cus_1',
      mode,
      'allowed_payment_method_types[0]': 'card',
      client_reference_id: 'cs_1',
      success_url: returnUrl,
      cancel_url: returnUrl,
      'line_items[0][price]': `price_${price.plan_key}`,
      'line_items[0][quantity]': '1',
    });
  },
);

test('a token pack offers what is configured, such as a bank debit; a subscription offers cards', async () => {
  const session = { id: 'cs_test_1', status: 'open', url: 'https://checkout', metadata: {} };
  const answers = { 'GET /prices': list([priceOf(pack), priceOf(plan)]), 'POST /checkout/sessions': session };
  const stripe = await answering(answers, { packMethods: ['card', 'us_bank_account'] });
  const checkout = { customerId: 'cus_1', returnUrl: 'https://app.example', reference: 'cs_1', accountId: 'acc_1' };
  await stripe.createCheckout({ ...checkout, mode: 'payment', price: pack }, 'pack');
  await stripe.createCheckout({ ...checkout, mode: 'subscription', price: plan }, 'plan');
  const offered = writes().map(({ params }) =>
    Object.entries(params).flatMap(([name, value]) =>
      name.startsWith('allowed_payment_method_types[') ? [value] : [],
    ),
  );
  expect(offered).toEqual([['card', 'us_bank_account'], ['card']]);
});

test('an upgrade is invoiced at once and in force only when paid; the plan is that of the price', async () => {
  const stripe = await answering({
    'GET /prices': list([priceOf(plan)]),
    'GET /subscriptions/sub_1': subscription,
    'POST /subscriptions/sub_1': upgraded,
  });
  const changed = await stripe.changePlan(change, 'up-key');
  expect(changed.plan_key).toBe('growth');
  expect(keyOf(writes()[0])).toBe('up-key');
  expect(writes()[0]?.params).toEqual({
    'items[0][id]': 'si_1',
    'items[0][price]': 'price_growth',
    'items[0][quantity]': '1',
    proration_behavior: 'always_invoice',
    payment_behavior: 'pending_if_incomplete',
    'expand[0]': 'customer',
  });
});

test('an upgrade that is not paid is declined, and requested again under its key', async () => {
  const stripe = await answering({
    'GET /prices': list([priceOf(plan)]),
    'GET /subscriptions/sub_1': subscription,
    'POST /subscriptions/sub_1': { ...subscription, pending_update: { expires_at: 1_800_000_000 } },
  });
  for (const _ of ['first', 'repeated'])
    await expect(stripe.changePlan(change, 'up-key')).rejects.toMatchObject({ kind: 'declined' });
  const [first, repeated, ...more] = writes();
  expect([keyOf(repeated), repeated?.params, more]).toEqual([keyOf(first), first?.params, []]);
  expect((await stripe.getSubscription('sub_1')).plan_key).toBe('starter');
});

test('an upgrade whose payment waits for the holder of the card is pending, and is not requested again', async () => {
  const pending_update = { expires_at: 1_800_000_000, subscription_items: [{ price: priceOf(plan) }] };
  const waiting = { ...subscription, latest_invoice: 'in_1', pending_update };
  const payments = { data: [{ status: 'open', is_default: true, payment: { payment_intent: 'pi_1' } }] };
  const stripe = await answering({
    'GET /prices': list([priceOf(plan)]),
    'GET /subscriptions/sub_1': waiting,
    'POST /subscriptions/sub_1': waiting,
    'GET /invoices/in_1': { id: 'in_1', customer: 'cus_1', status: 'open', payments, created: 1, metadata: {} },
    'GET /invoices/in_1/lines': list([]),
    'GET /payment_intents/pi_1': { id: 'pi_1', status: 'requires_action' },
  });
  const asked = await stripe.changePlan({ ...change, fromPlanKey: 'starter' }, 'up-key');
  expect(asked).toMatchObject({ plan_key: 'starter', pending_plan_key: 'growth' });
  expect(writes()).toEqual([]);
});

test('a downgrade is not prorated', async () => {
  const stripe = await answering({
    'GET /prices': list([priceOf(starter)]),
    'GET /subscriptions/sub_1': upgraded,
    'POST /subscriptions/sub_1': subscription,
  });
  const down = { ...change, fromPlanKey: 'growth', price: starter, type: 'downgrade' as const };
  await stripe.changePlan(down, 'down-key');
  expect(writes()[0]?.params).toMatchObject({ proration_behavior: 'none', 'items[0][price]': 'price_starter' });
  expect(writes()[0]?.params).not.toHaveProperty('payment_behavior');
});

test('a change whose response was lost returns the same result under any key, and is written once', async () => {
  let now: typeof subscription = subscription;
  double = await startStripeDouble(({ method, path }, response) => {
    if (method === 'POST') now = upgraded;
    send(response, 200, path.startsWith('/v1/prices') ? list([priceOf(plan)]) : now);
  });
  const stripe = double.provider();
  const first = await stripe.changePlan(change, 'up-key');
  for (const key of ['up-key', 'other-key']) expect(await stripe.changePlan(change, key)).toEqual(first);
  expect(writes()).toHaveLength(1);
});

test('a change from a different plan than the current one is refused, and nothing is written', async () => {
  const stripe = await answering({ 'GET /subscriptions/sub_1': subscription });
  const other = { ...change, fromPlanKey: 'enterprise' };
  await expect(stripe.changePlan(other, 'up-key')).rejects.toMatchObject({ kind: 'refused' });
  expect(double.asked.map(({ method }) => method)).toEqual(['GET']);
});

test('existing prices are found by their lookup keys, and nothing is written', async () => {
  const stripe = await answering({ 'GET /prices': list([priceOf(pack), priceOf(plan)]) });
  const ids = await stripe.syncPrices([plan, pack]);
  expect([...ids]).toEqual([
    ['growth', 'price_growth'],
    ['tokens_1000', 'price_tokens_1000'],
  ]);
  expect(double.asked[0]?.params).toMatchObject({
    'lookup_keys[0]': 'growth',
    'lookup_keys[1]': 'tokens_1000',
    active: 'true',
  });
  expect(writes()).toEqual([]);
});

test('a missing price is created with its product, twice under the same key', async () => {
  const stripe = await answering({ 'GET /prices': list([]), 'POST /prices': { id: 'price_new' } });
  expect((await stripe.syncPrices([plan])).get('growth')).toBe('price_new');
  await stripe.syncPrices([plan]);
  const [first, second] = writes();
  expect(first?.params).toEqual({
    currency: 'usd',
    unit_amount: '19900',
    lookup_key: 'growth',
    transfer_lookup_key: 'true',
    'metadata[plan_key]': 'growth',
    'recurring[interval]': 'month',
    'product_data[name]': 'Growth',
    'product_data[metadata][plan_key]': 'growth',
  });
  expect(keyOf(second)).toBe(keyOf(first));
});

test('a changed amount is a new price of the same product, which takes over the lookup key', async () => {
  const former = priceOf(plan, { id: 'price_old', unit_amount: 9_900 });
  const stripe = await answering({ 'GET /prices': list([former]), 'POST /prices': { id: 'price_new' } });
  expect((await stripe.syncPrices([plan])).get('growth')).toBe('price_new');
  const [made] = writes();
  expect(made?.params).toMatchObject({ product: 'prod_1', unit_amount: '19900', transfer_lookup_key: 'true' });
  expect(made?.params).not.toHaveProperty('product_data[name]');
});

test('an amount that is restored later is created anew: its key depends on the price it replaces', async () => {
  const keys: unknown[] = [];
  for (const id of ['price_b', 'price_c']) {
    const former = priceOf(plan, { id, unit_amount: 9_900 });
    const stripe = await answering({ 'GET /prices': list([former]), 'POST /prices': { id: 'price_new' } });
    await stripe.syncPrices([plan]);
    keys.push(keyOf(writes()[0]));
    if (keys.length < 2) await double.stop();
  }
  expect(new Set(keys).size).toBe(2);
});

test('a changed name is set on the product', async () => {
  const former = priceOf(plan, { product: { id: 'prod_1', object: 'product', name: 'Grow' } });
  const stripe = await answering({ 'GET /prices': list([former]), 'POST /products/prod_1': { id: 'prod_1' } });
  await stripe.syncPrices([plan]);
  expect(writes().map(({ path, params }) => [path, params])).toEqual([['/v1/products/prod_1', { name: 'Growth' }]]);
});

test('the default card is that of the subscription, otherwise that of the customer', async () => {
  const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
  const methods = list(['pm_1', 'pm_2'].map((id) => ({ id, card })));
  const invoice_settings = { default_payment_method: 'pm_2' };
  const defaults = async (subscriptions: unknown) => {
    const stripe = await answering({
      'GET /customers/cus_1': { id: 'cus_1', balance: 0, invoice_settings, subscriptions },
      'GET /customers/cus_1/payment_methods': methods,
    });
    const found = (await stripe.listPaymentMethods('cus_1')).filter(({ is_default }) => is_default);
    return found.map(({ id }) => id);
  };
  expect(await defaults(list([{ id: 'sub_1', default_payment_method: 'pm_1' }]))).toEqual(['pm_1']);
  await double.stop();
  expect(await defaults(list([{ id: 'sub_1', default_payment_method: null }]))).toEqual(['pm_2']);
});

test('a setup is for a card that is charged later', async () => {
  const made = { id: 'seti_1', client_secret: 'seti_1_secret_1' };
  const stripe = await answering({ 'POST /setup_intents': made });
  expect(await stripe.createSetupIntent('cus_1', 'setup-key')).toEqual(made);
  expect(keyOf(writes()[0])).toBe('setup-key');
  expect(writes()[0]?.params).toEqual({
    customer: 'cus_1',
    usage: 'off_session',
    'allowed_payment_method_types[0]': 'card',
  });
});

test('a payment method is detached only from its own customer', async () => {
  const method = { id: 'pm_1', object: 'payment_method' };
  const stripe = await answering({
    'GET /customers/cus_1/payment_methods/pm_1': method,
    'POST /payment_methods/pm_1/detach': method,
  });
  await expect(stripe.detachPaymentMethod('cus_2', 'pm_1')).rejects.toMatchObject({ kind: 'not_found' });
  expect(writes()).toEqual([]);
  await stripe.detachPaymentMethod('cus_1', 'pm_1');
  expect(writes()).toHaveLength(1);
});

test('a refund names its payment and carries our reference', async () => {
  const refund = {
    id: 're_1',
    object: 'refund',
    payment_intent: 'pi_1',
    amount: 500,
    status: 'succeeded',
    reason: 'duplicate',
    metadata: { reference: 'ref_1' },
  };
  const stripe = await answering({ 'POST /refunds': refund });
  const wanted = { paymentId: 'pi_1', amountCents: 500, reason: 'duplicate', reference: 'ref_1' } as const;
  const made = await stripe.createRefund(wanted, 'refund-key');
  const reference = 'ref_1';
  const payment_id = 'pi_1';
  expect(made).toEqual({
    ...{ id: 're_1', payment_id, amount_cents: 500, status: 'succeeded', reason: 'duplicate', reference },
  });
  expect(keyOf(writes()[0])).toBe('refund-key');
  expect(writes()[0]?.params).toEqual({
    payment_intent: 'pi_1',
    amount: '500',
    reason: 'duplicate',
    'metadata[reference]': 'ref_1',
  });
});

test('store credit is a balance below zero that carries our reference; what others credited is not listed', async () => {
  const credit = { id: 'cbtxn_1', amount: -900, metadata: { reference: 'ref_1' } };
  const stripe = await answering({
    'POST /customers/cus_1/balance_transactions': credit,
    'GET /customers/cus_1/balance_transactions': list([credit, { id: 'cbtxn_2', amount: -50, metadata: {} }]),
  });
  const made = { id: 'cbtxn_1', amount_cents: 900, reference: 'ref_1' };
  const wanted = { customerId: 'cus_1', amountCents: 900, currency: 'usd', description: 'Why', reference: 'ref_1' };
  expect(await stripe.createCredit(wanted, 'credit-key')).toEqual(made);
  expect(keyOf(writes()[0])).toBe('credit-key');
  expect(writes()[0]?.params).toEqual({
    amount: '-900',
    currency: 'usd',
    description: 'Why',
    'metadata[reference]': 'ref_1',
  });
  expect(await Array.fromAsync(stripe.listCredits('cus_1'))).toEqual([made]);
});

test('a refund is found by our reference, over all pages of the refunds of its payment', async () => {
  const refund = (id: string, reference?: string) => {
    return { id, payment_intent: 'pi_1', amount: 5, status: 'failed', metadata: reference ? { reference } : null };
  };
  double = await startStripeDouble(({ params }, response) => {
    const first = [refund('re_4', 'ref_other'), refund('re_3')];
    const pages = params.starting_after ? list([refund('re_2', 'ref_1')]) : list(first, true);
    send(response, 200, pages);
  });
  const stripe = double.provider();
  expect(await stripe.findRefund('pi_1', 'ref_1')).toMatchObject({ id: 're_2', reference: 'ref_1', status: 'failed' });
  expect(double.asked.map(({ params }) => [params.payment_intent, params.starting_after])).toEqual([
    ['pi_1', undefined],
    ['pi_1', 're_3'],
  ]);
  for (const reference of ['ref_2', '']) expect(await stripe.findRefund('pi_1', reference)).toBeUndefined();
  const asked = double.asked.length;
  await expect(stripe.findRefund('', 'ref_1')).rejects.toMatchObject({ kind: 'not_found' });
  expect(double.asked).toHaveLength(asked);
});

test('the payment of a pack has its own plan: no invoice is requested', async () => {
  const intent = {
    id: 'pi_1',
    customer: 'cus_1',
    status: 'succeeded',
    amount: 900,
    amount_received: 900,
    currency: 'usd',
    latest_charge: null,
    last_payment_error: null,
    metadata: { account_id: 'acc_1', plan_key: 'tokens_1000', reference: 'cs_1' },
    created: 1_700_000_000,
  };
  const stripe = await answering({ 'GET /payment_intents/pi_1': intent });
  expect(await stripe.getPayment('pi_1')).toMatchObject({
    plan_key: 'tokens_1000',
    account_id: 'acc_1',
    invoice_id: null,
  });
  expect(double.asked).toHaveLength(1);
});
