import { expect, test } from '@jest/globals';
import type Stripe from 'stripe';
import type { ProviderInvoice } from '../src/provider/payment-provider.ts';
import { checkoutOf } from '../src/provider/stripe/objects/checkout.ts';
import { disputeOf } from '../src/provider/stripe/objects/dispute.ts';
import { invoiceOf } from '../src/provider/stripe/objects/invoice.ts';
import { paymentOf } from '../src/provider/stripe/objects/payment.ts';
import { paymentMethodOf } from '../src/provider/stripe/objects/payment-method.ts';
import { refundOf } from '../src/provider/stripe/objects/refund.ts';
import { subscriptionOf } from '../src/provider/stripe/objects/subscription.ts';

/** Stripe's response, with the fields that are read. */
const as = <T>(object: unknown) => object as T;
const created = 1_790_000_000;
const createdAt = new Date('2026-09-21T14:13:20Z');
const customer = { id: 'cus_1', object: 'customer', metadata: { account_id: 'acc_of_customer' } };
const price = (plan_key: string, lookup_key: string | null = plan_key) => ({
  id: `price_${plan_key}`,
  lookup_key,
  metadata: { plan_key },
});

const session = (changes: object) =>
  checkoutOf(
    as<Stripe.Checkout.Session>({
      id: 'cs_test_1',
      mode: 'payment',
      status: 'complete',
      url: 'https://checkout.stripe.com/c/pay/cs_test_1',
      payment_intent: 'pi_1',
      subscription: null,
      client_reference_id: 'cs_1',
      metadata: { account_id: 'acc_1', reference: 'cs_1', plan_key: 'tokens_1000' },
      ...changes,
    }),
  );

test('a complete checkout has its payment and no page', () => {
  expect(session({})).toEqual({
    id: 'cs_test_1',
    status: 'complete',
    url: null,
    payment_id: 'pi_1',
    subscription_id: null,
    reference: 'cs_1',
    account_id: 'acc_1',
  });
});

test('an open checkout has a page and no payment yet', () => {
  const open = session({ status: 'open', payment_intent: null, metadata: {} });
  expect(open).toMatchObject({
    url: expect.stringContaining('https://'),
    payment_id: null,
    reference: 'cs_1',
    account_id: '',
  });
});

test('the checkout of a subscription has the subscription, expanded or not', () => {
  for (const subscription of ['sub_1', { id: 'sub_1' }]) {
    expect(session({ mode: 'subscription', payment_intent: null, subscription })).toMatchObject({
      payment_id: null,
      subscription_id: 'sub_1',
    });
  }
});

test('a debit of a bank account is complete once the money is there, and expired when it never comes', () => {
  const late = (status: string) => session({ payment_status: 'unpaid', payment_intent: { id: 'pi_1', status } });
  expect(late('processing')).toMatchObject({ status: 'open', payment_id: 'pi_1', url: null });
  expect(late('requires_payment_method').status).toBe('expired');
  expect(session({ payment_status: 'paid' }).status).toBe('complete');
});

test('a dispute is open until it is decided; an inquiry that is closed is won', () => {
  const dispute = (status: string) =>
    disputeOf(
      as<Stripe.Dispute>({ id: 'du_1', payment_intent: 'pi_1', amount: 900, status, reason: 'fraudulent', created }),
    );
  expect(dispute('needs_response')).toEqual({
    ...{ id: 'du_1', payment_id: 'pi_1', amount_cents: 900, status: 'open', reason: 'fraudulent' },
    created_at: createdAt,
  });
  const found = ['warning_needs_response', 'under_review', 'warning_closed', 'prevented', 'won', 'lost'].map(
    (status) => dispute(status).status,
  );
  expect(found).toEqual(['open', 'open', 'won', 'won', 'won', 'lost']);
});

test('a payment that waits for its holder is pending; an open invoice has its page', () => {
  expect(payment({ status: 'requires_action' })).toMatchObject({ status: 'pending', needs_holder: true });
  expect(invoice({ status: 'open' }).page_url).toBe('https://invoice.stripe.com/i/1');
});

const payment = (changes: object, invoice?: ProviderInvoice) =>
  paymentOf(
    as<Stripe.PaymentIntent>({
      id: 'pi_1',
      customer,
      status: 'succeeded',
      amount: 900,
      amount_received: 900,
      currency: 'usd',
      latest_charge: { id: 'ch_1', amount_refunded: 300, receipt_url: 'https://pay.stripe.com/receipts/1' },
      last_payment_error: null,
      metadata: { account_id: 'acc_1', reference: 'cs_1', plan_key: 'tokens_1000' },
      created,
      ...changes,
    }),
    invoice,
  );

test('a succeeded payment has its receipt and the refunded amount', () => {
  expect(payment({})).toEqual({
    id: 'pi_1',
    customer_id: 'cus_1',
    status: 'succeeded',
    amount_cents: 900,
    refunded_cents: 300,
    disputed: false,
    needs_holder: false,
    currency: 'usd',
    receipt_url: 'https://pay.stripe.com/receipts/1',
    failure: null,
    invoice_id: null,
    account_id: 'acc_1',
    plan_key: 'tokens_1000',
    created_at: createdAt,
  });
});

const refused = {
  status: 'requires_payment_method',
  amount_received: 0,
  last_payment_error: { message: 'Your card was declined.' },
};

test.each<[string, object, object]>([
  ['refused', refused, { status: 'failed', failure: 'Your card was declined.' }],
  ['canceled', { status: 'canceled', latest_charge: null }, { status: 'failed', failure: expect.any(String) }],
  ['not begun', { status: 'requires_payment_method', latest_charge: null }, { status: 'pending', failure: null }],
  ['to be confirmed after a refusal', { ...refused, status: 'requires_action' }, { status: 'pending', failure: null }],
  ['on its way', { status: 'processing' }, { status: 'pending', failure: null }],
  ['of a kind that is not known', { status: 'newly_invented' }, { status: 'pending', failure: null }],
])('a payment that is %s', (_, changes, wanted) => {
  expect(payment(changes)).toMatchObject({ amount_cents: 900, ...wanted });
});

const line = (amount: number, plan_key: string, proration = false) => ({
  amount,
  parent: { subscription_item_details: { proration }, invoice_item_details: null },
  pricing: { price_details: { price: price(plan_key), product: 'prod_1' } },
});
const invoice = (changes: object, lines: object[] = [line(19_900, 'growth')]) =>
  invoiceOf(
    as<Stripe.Invoice>({
      id: 'in_1',
      customer,
      status: 'paid',
      billing_reason: 'subscription_create',
      amount_paid: 19_400,
      total: 19_900,
      currency: 'usd',
      hosted_invoice_url: 'https://invoice.stripe.com/i/1',
      metadata: {},
      parent: {
        subscription_details: { subscription: 'sub_1', metadata: { account_id: 'acc_1', plan_key: 'starter' } },
      },
      payments: {
        data: [{ status: 'paid', is_default: true, payment: { type: 'payment_intent', payment_intent: 'pi_2' } }],
      },
      created,
      ...changes,
    }),
    as<Stripe.InvoiceLineItem[]>(lines),
  );

test('an invoice has its subscription, its payment, and the plan of its line instead of the metadata', () => {
  expect(invoice({})).toEqual({
    id: 'in_1',
    customer_id: 'cus_1',
    subscription_id: 'sub_1',
    status: 'paid',
    reason: 'create',
    amount_paid_cents: 19_400,
    total_cents: 19_900,
    currency: 'usd',
    payment_id: 'pi_2',
    receipt_url: 'https://invoice.stripe.com/i/1',
    page_url: null,
    plan_key: 'growth',
    lines: [{ plan_key: 'growth', amount_cents: 19_900, proration: false }],
    account_id: 'acc_1',
    created_at: createdAt,
  });
});

test('the payment of an invoice takes account and plan from the invoice', () => {
  expect(payment({ metadata: {} }, invoice({}))).toMatchObject({
    invoice_id: 'in_1',
    account_id: 'acc_1',
    plan_key: 'growth',
  });
});

test('an upgrade’s invoice is for the plan that is charged, not for the one that is credited', () => {
  const lines = [line(-2_400, 'starter', true), line(9_900, 'growth', true)];
  expect(invoice({ billing_reason: 'subscription_update' }, lines)).toMatchObject({
    reason: 'update',
    plan_key: 'growth',
    lines: [
      { plan_key: 'starter', amount_cents: -2_400, proration: true },
      { plan_key: 'growth', amount_cents: 9_900, proration: true },
    ],
  });
});

test('a line with the id of a price has the plan of that price', () => {
  const named = { ...line(19_900, ''), pricing: { price_details: { price: 'price_growth', product: 'prod_1' } } };
  const invoiced = as<Stripe.Invoice>({ id: 'in_1', metadata: {} });
  const prices = new Map([['price_growth', as<Stripe.Price>(price('growth'))]]);
  const planKeys = (known?: typeof prices) => {
    const { plan_key, lines } = invoiceOf(invoiced, as<Stripe.InvoiceLineItem[]>([named]), known);
    return [plan_key, ...lines.map((one) => one.plan_key)];
  };
  expect(planKeys(prices)).toEqual(['growth', 'growth']);
  expect(planKeys()).toEqual(['', '']);
});

test('a renewal’s invoice is for the full period, even if it has prorated lines', () => {
  const lines = [line(50_000, 'enterprise', true), line(19_900, 'growth')];
  expect(invoice({ billing_reason: 'subscription_cycle' }, lines)).toMatchObject({
    reason: 'cycle',
    plan_key: 'growth',
  });
});

test('an invoice paid by a second payment names that one, an open one its only payment', () => {
  const one = (status: string, payment_intent: string, is_default = false) => ({
    status,
    is_default,
    payment: { payment_intent },
  });
  const data = [one('canceled', 'pi_1', true), one('paid', 'pi_2')];
  expect(invoice({ payments: { data } }).payment_id).toBe('pi_2');
  expect(invoice({ status: 'open', payments: { data: [one('open', 'pi_3', true)] } }).payment_id).toBe('pi_3');
  expect(invoice({ payments: { data: [] } }).payment_id).toBeNull();
});

test('an invoice that was written by hand has no plan, and the account of its customer', () => {
  const manual = invoice({ billing_reason: 'manual', parent: null }, [{ amount: 5, parent: null, pricing: null }]);
  expect(manual).toMatchObject({ reason: 'other', plan_key: '', lines: [], account_id: 'acc_of_customer' });
  expect(manual.subscription_id).toBeNull();
});

const subscription = (changes: object) =>
  subscriptionOf(
    as<Stripe.Subscription>({
      id: 'sub_1',
      customer: 'cus_1',
      status: 'active',
      items: { data: [{ id: 'si_1', price: price('growth'), current_period_end: created + 60 }] },
      metadata: { account_id: 'acc_1', plan_key: 'starter' },
      cancel_at: null,
      cancel_at_period_end: false,
      created,
      ...changes,
    }),
  );

test('a subscription has the plan of its price and the period of its item', () => {
  expect(subscription({})).toEqual({
    id: 'sub_1',
    customer_id: 'cus_1',
    status: 'active',
    plan_key: 'growth',
    cancel_at_period_end: false,
    current_period_end: new Date(createdAt.getTime() + 60_000),
    pending_plan_key: null,
    account_id: 'acc_1',
    created_at: createdAt,
  });
});

test('a subscription to a replaced price keeps its plan', () => {
  const items = { data: [{ id: 'si_1', price: price('growth', null), current_period_end: created }] };
  expect(subscription({ items }).plan_key).toBe('growth');
});

test('a subscription whose upgrade is not paid yet has the former plan', () => {
  const pending_update = { subscription_items: [{ price: price('enterprise') }], expires_at: created };
  expect(subscription({ pending_update })).toMatchObject({ plan_key: 'growth', pending_plan_key: 'enterprise' });
});

test('a subscription ends with its period, whichever field says so', () => {
  expect(subscription({ cancel_at_period_end: true }).cancel_at_period_end).toBe(true);
  expect(subscription({ cancel_at: created + 60 }).cancel_at_period_end).toBe(true);
  expect(subscription({ cancel_at: created + 61 }).cancel_at_period_end).toBe(false);
});

test.each(['paused', 'newly_invented'])('a subscription with the status %s gives no access', (status) => {
  expect(subscription({ status }).status).toBe('unpaid');
});

test('refunds', () => {
  const refund = (status: string | null) =>
    refundOf(as<Stripe.Refund>({ id: 're_1', payment_intent: { id: 'pi_1' }, amount: 300, status, metadata: null }));
  expect(refund('failed')).toEqual({
    id: 're_1',
    payment_id: 'pi_1',
    amount_cents: 300,
    status: 'failed',
    reason: 'requested_by_customer',
    reference: null,
  });
  for (const status of ['requires_action', 'pending', null]) expect(refund(status).status).toBe('pending');
});

test('a payment method must be a card, and may be the default', () => {
  const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030, country: 'US' };
  const { country: _, ...shown } = card;
  const method = as<Stripe.PaymentMethod>({ id: 'pm_1', type: 'card', card });
  expect(paymentMethodOf(method, 'pm_1')).toEqual({ id: 'pm_1', ...shown, is_default: true });
  expect(paymentMethodOf(method, null)?.is_default).toBe(false);
  expect(paymentMethodOf(as<Stripe.PaymentMethod>({ id: 'pm_2', type: 'link' }), null)).toBeUndefined();
});
