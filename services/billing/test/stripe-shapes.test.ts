import { testServers } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Stripe from 'stripe';
import type { CatalogueEntry, PaymentProvider } from '../src/provider/payment-provider.ts';
import { startStripeDouble } from './stripe-double.ts';

/**
 * Needs stripe-mock, which refuses what Stripe's OpenAPI document does not have, and does not give metadata back.
 * `npm test` says when it is missing.
 */
const url = testServers.stripeMockUrl();
const mockTest = url === undefined ? test.skip : test;
let double: Awaited<ReturnType<typeof startStripeDouble>>;
let stripe: PaymentProvider;
beforeAll(async () => {
  double = await startStripeDouble(({ method, path, headers, params }, response) => {
    const form = Object.entries(params).map(([name, value]) => [formerName(path, name), value]);
    const { authorization = '', 'content-type': type = '' } = headers;
    const body = method === 'POST' ? new URLSearchParams(form).toString() : null;
    fetch(new URL(path, url), { method, headers: { authorization, 'content-type': type }, body })
      .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      .catch(() => response.destroy());
  });
  stripe = double.provider();
});
afterAll(() => double.stop());

/**
 * stripe-mock implements 2026-08-26.dahlia, so fields that the next version has renamed are copied to their former
 * names.
 */
const formerName = (path: string, name: string) =>
  path === '/v1/checkout/sessions' ? name.replace(/^allowed_(?=payment_method_types\[)/, '') : name;

const pack: CatalogueEntry = {
  plan_key: 'tokens_1000',
  name: 'Tokens',
  amount_cents: 900,
  currency: 'usd',
  interval: null,
};
const plan: CatalogueEntry = {
  plan_key: 'growth',
  name: 'Growth',
  amount_cents: 19_900,
  currency: 'usd',
  interval: 'month',
};
const ours = { customerId: 'cus_1', returnUrl: 'https://app.example/billing', reference: 'cs_1', accountId: 'acc_1' };

mockTest('stripe-mock refuses a parameter that Stripe does not have', async () => {
  const client = new Stripe('sk_test_123', { protocol: 'http', host: '127.0.0.1', port: new URL(url ?? '').port });
  const unknown = { nonsense: 'yes' } as Stripe.CustomerCreateParams;
  await expect(client.customers.create(unknown)).rejects.toMatchObject({ statusCode: 400 });
});

mockTest('a customer is made and found', async () => {
  const made = await stripe.createCustomer({ accountId: 'acc_1', name: 'Acme' }, 'customer-1');
  expect(made).toEqual({ id: expect.stringMatching(/^cus_/), balance_cents: expect.any(Number) });
  expect(await stripe.getCustomer('cus_1')).toMatchObject({ id: 'cus_1' });
});

mockTest('a checkout of a pack is made and found', async () => {
  const made = await stripe.createCheckout({ ...ours, mode: 'payment', price: pack }, 'checkout-1');
  expect(made).toMatchObject({ status: 'open', url: expect.stringMatching(/^https:/), subscription_id: null });
  expect(made.reference).toBe('cs_1');
  expect(await stripe.getCheckout('cs_test_1')).toMatchObject({ id: 'cs_test_1', status: 'open' });
});

mockTest('a checkout is expired', async () => {
  await expect(stripe.expireCheckout('cs_test_1')).resolves.toBeUndefined();
});

mockTest('a checkout of a subscription is made', async () => {
  const made = await stripe.createCheckout({ ...ours, mode: 'subscription', price: plan }, 'checkout-2');
  expect(made).toMatchObject({ status: 'open', reference: 'cs_1' });
});

mockTest('a payment is found, with the invoice that it pays', async () => {
  const payment = await stripe.getPayment('pi_1');
  expect(payment).toMatchObject({ id: 'pi_1', currency: 'usd', invoice_id: expect.any(String) });
  expect(payment.amount_cents).toBeGreaterThan(0);
  expect(payment.created_at).toBeInstanceOf(Date);
});

mockTest('an invoice is found', async () => {
  const invoice = await stripe.getInvoice('in_1');
  expect(invoice).toMatchObject({
    id: 'in_1',
    status: 'draft',
    reason: 'other',
    currency: 'usd',
    amount_paid_cents: 0,
    total_cents: expect.any(Number),
  });
  expect(invoice.customer_id).toMatch(/^cus_/);
});

mockTest('a subscription is found, cancelled and resumed', async () => {
  const found = await stripe.getSubscription('sub_1');
  expect(found).toMatchObject({ id: 'sub_1', customer_id: expect.stringMatching(/^cus_/) });
  expect(found.current_period_end).toBeInstanceOf(Date);
  expect(await stripe.setCancelAtPeriodEnd('sub_1', true, 'cancel-1')).toMatchObject({ cancel_at_period_end: true });
  expect(await stripe.setCancelAtPeriodEnd('sub_1', false, 'resume-1')).toMatchObject({ id: 'sub_1' });
});

mockTest('a plan is changed', async () => {
  const { plan_key: fromPlanKey } = await stripe.getSubscription('sub_1');
  const change = { subscriptionId: 'sub_1', fromPlanKey, price: plan };
  const changed = await stripe.changePlan({ ...change, type: 'downgrade' }, 'change-1');
  expect(changed).toMatchObject({ id: 'sub_1' });
  // Accepted as well, but every subscription of stripe-mock has an update that waits for its payment.
  const upgrade = stripe.changePlan({ ...change, type: 'upgrade' }, 'change-2');
  await expect(upgrade).rejects.toMatchObject({ kind: 'declined' });
});

mockTest('a dispute and a warning of fraud are found', async () => {
  expect(await stripe.getDispute('du_1')).toMatchObject({ status: expect.stringMatching(/^(open|won|lost)$/) });
  expect(await stripe.getFraudWarning('issfr_1')).toMatchObject({ actionable: expect.any(Boolean) });
});

mockTest('store credit is made and listed', async () => {
  const credit = { customerId: 'cus_1', amountCents: 900, currency: 'usd', description: 'Why', reference: 'ref_1' };
  expect(await stripe.createCredit(credit, 'credit-1')).toMatchObject({ id: expect.any(String) });
  expect(await Array.fromAsync(stripe.listCredits('cus_1'))).toEqual(expect.any(Array));
});

mockTest('a refund is made and found', async () => {
  const refund = { paymentId: 'pi_1', amountCents: 100, reason: 'requested_by_customer', reference: 'ref_1' } as const;
  expect(await stripe.createRefund(refund, 'refund-1')).toMatchObject({ amount_cents: 100 });
  expect(await stripe.getRefund('re_1')).toMatchObject({ id: 're_1', reference: null });
  expect(await stripe.findRefund('pi_1', 'ref_1')).toBeUndefined();
});

mockTest('payment methods are listed and detached, and one can be added', async () => {
  const [method] = await stripe.listPaymentMethods('cus_1');
  expect(method).toMatchObject({ id: expect.stringMatching(/^pm_/), last4: expect.any(String), is_default: false });
  await stripe.detachPaymentMethod('cus_1', 'pm_1');
  const { id, client_secret } = await stripe.createSetupIntent('cus_1', 'setup-1');
  expect(id).toMatch(/^seti_/);
  expect(client_secret).toMatch(/^seti_.+_secret_/);
  expect(await stripe.getSetup('seti_1')).toEqual({ id: 'seti_1', customer_id: '' });
});

// A setup of stripe-mock never finishes, so the rest is tested with the stand-in.
mockTest('a set-up that is not finished is looked at', async () => {
  expect(await stripe.useSavedCard('seti_1', 'use-1')).toBeUndefined();
});

mockTest('the payments of a customer are listed, with what they pay for', async () => {
  const payments = await Array.fromAsync(stripe.listPayments('cus_1'));
  expect(payments).toEqual([expect.objectContaining({ id: expect.stringMatching(/^pi_/), currency: 'usd' })]);
});

mockTest('prices are made, more than Stripe looks up at once', async () => {
  const many = Array.from({ length: 12 }, (_, n) => ({ ...(n % 2 ? pack : plan), plan_key: `plan_${n}` }));
  const ids = await stripe.syncPrices(many);
  expect([...ids.keys()]).toEqual(many.map(({ plan_key }) => plan_key));
  for (const id of ids.values()) expect(id).toMatch(/^price_/);
});

mockTest('events are listed', async () => {
  const events = await Array.fromAsync(stripe.listEvents(new Date(0)));
  const listed = {
    id: expect.stringMatching(/^evt_/),
    type: 'plan.created',
    object: { kind: 'other', id: expect.any(String) },
    created_at: expect.any(Date),
  };
  expect(events).toEqual([listed, listed]); // There are two lists, of different types.
});
