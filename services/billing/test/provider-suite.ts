import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CatalogueEntry, PaymentProvider } from '../src/provider/payment-provider.ts';
import { describeCards } from './provider-cards.ts';
import { describeCredits } from './provider-credits.ts';
import { describeDisputes } from './provider-disputes.ts';
import { describeNotifications } from './provider-notifications.ts';
import { describeSubscriptions } from './provider-subscriptions.ts';
import {
  buy,
  checkoutOf,
  lastInvoice,
  newCustomer,
  newKey,
  type OpenProvider,
  prices,
  refundOf,
  refusal,
} from './provider-support.ts';

/** The behaviour that every driver of a payment provider must have. */
export function describeProvider(name: string, open: () => Promise<OpenProvider>): void {
  describe(`${name} as a payment provider`, () => {
    let opened: OpenProvider;
    let provider: PaymentProvider;
    beforeAll(async () => {
      opened = await open();
      provider = opened.provider;
      await provider.syncPrices(Object.values(prices));
    });
    afterAll(() => opened.close());

    describe('customers', () => {
      test('a new customer owes nothing and has no cards', async () => {
        const { id } = await newCustomer(provider);
        expect(await provider.getCustomer(id)).toEqual({ id, balance_cents: 0 });
        expect(await provider.listPaymentMethods(id)).toEqual([]);
      });
    });

    describe('prices', () => {
      test('are created once, and are new ones when their amounts change', async () => {
        const entry = { ...prices.pack, plan_key: `pack_${randomUUID().slice(0, 8)}` };
        const idOf = async (asked: CatalogueEntry) => (await provider.syncPrices([asked])).get(asked.plan_key);
        const first = await idOf(entry);
        expect(first).toBeTruthy();
        expect(await idOf(entry)).toBe(first);
        expect(await idOf({ ...entry, amount_cents: 1_000 })).not.toBe(first);
      });
    });

    describe('checkouts', () => {
      test('a new one is open, has a page, and carries our ids', async () => {
        const asked = checkoutOf(await newCustomer(provider), prices.pack);
        const made = await provider.createCheckout(asked, newKey());
        expect(made).toEqual({
          id: expect.any(String),
          status: 'open',
          url: expect.stringMatching(/^https?:\/\//),
          payment_id: null,
          subscription_id: null,
          reference: asked.reference,
          account_id: asked.accountId,
        });
        expect(await provider.getCheckout(made.id)).toEqual(made);
      });

      test('a payment that is paid succeeds, and its checkout is complete', async () => {
        const asked = checkoutOf(await newCustomer(provider), prices.pack);
        const { id } = await provider.createCheckout(asked, newKey());
        await opened.pay(await provider.getCheckout(id), 'succeeds');

        const checkout = await provider.getCheckout(id);
        expect(checkout).toMatchObject({ status: 'complete', url: null, subscription_id: null });
        expect(await provider.getPayment(checkout.payment_id ?? '')).toEqual({
          id: checkout.payment_id,
          customer_id: asked.customerId,
          status: 'succeeded',
          amount_cents: 900,
          refunded_cents: 0,
          disputed: false,
          needs_holder: false,
          currency: 'usd',
          receipt_url: expect.stringMatching(/^https?:\/\//),
          failure: null,
          invoice_id: null,
          account_id: asked.accountId,
          plan_key: 'pack',
          created_at: expect.any(Date),
        });
      });

      test('a declined card leaves it open, with a payment that failed; another card pays it', async () => {
        const asked = checkoutOf(await newCustomer(provider), prices.pack);
        const { id } = await provider.createCheckout(asked, newKey());
        await opened.pay(await provider.getCheckout(id), 'declined');
        const declined = await provider.getCheckout(id);
        expect(declined.status).toBe('open');
        expect(await provider.getPayment(declined.payment_id ?? '')).toMatchObject({
          status: 'failed',
          failure: expect.any(String),
        });

        await opened.pay(declined, 'succeeds');
        const { status, payment_id } = await provider.getCheckout(id);
        expect(status).toBe('complete');
        expect(await provider.getPayment(payment_id ?? '')).toMatchObject({ status: 'succeeded', failure: null });
      });

      test('an expired checkout accepts no payment, and cannot be expired again', async () => {
        const made = await provider.createCheckout(checkoutOf(await newCustomer(provider), prices.pack), newKey());
        await provider.expireCheckout(made.id);
        await opened.pay(made, 'succeeds');
        expect(await provider.getCheckout(made.id)).toMatchObject({ status: 'expired', url: null, payment_id: null });
        await expect(provider.expireCheckout(made.id)).rejects.toEqual(refusal('refused'));
      });

      test('a paid subscription begins, with an invoice, a payment and a saved card', async () => {
        const began = opened.now();
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const subscription = await provider.getSubscription(subscriptionId);
        expect(subscription).toMatchObject({
          customer_id: customer.id,
          status: 'active',
          plan_key: 'small',
          cancel_at_period_end: false,
          account_id: customer.accountId,
        });
        const days = (Number(subscription.current_period_end) - began.getTime()) / 86_400_000;
        expect(Math.round(days)).toBeGreaterThanOrEqual(28);
        expect(Math.round(days)).toBeLessThanOrEqual(31);

        const invoice = await lastInvoice(opened, began, customer);
        expect(invoice).toMatchObject({
          subscription_id: subscriptionId,
          status: 'paid',
          reason: 'create',
          amount_paid_cents: 4_900,
          total_cents: 4_900,
          plan_key: 'small',
          lines: [{ plan_key: 'small', amount_cents: 4_900, proration: false }],
          account_id: customer.accountId,
        });
        expect(await provider.getPayment(invoice.payment_id ?? '')).toMatchObject({
          status: 'succeeded',
          invoice_id: invoice.id,
        });
        const methods = await provider.listPaymentMethods(customer.id);
        expect(methods.map(({ last4, is_default }) => [last4, is_default])).toEqual([['4242', true]]);
      });

      test('a one-time price cannot be subscribed to', async () => {
        const asked = checkoutOf(await newCustomer(provider), prices.pack);
        await expect(provider.createCheckout({ ...asked, mode: 'subscription' }, newKey())).rejects.toEqual(
          refusal('refused'),
        );
      });
    });

    describe('keys', () => {
      test('twenty concurrent requests under one key are executed once, with the same result', async () => {
        const asked = checkoutOf(await newCustomer(provider), prices.pack);
        const key = newKey();
        const made = await Promise.all(Array.from({ length: 20 }, () => provider.createCheckout(asked, key)));
        expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      });

      test('a repeated refund is made once', async () => {
        const { paymentId } = await buy(opened, prices.pack);
        const [asked, key] = [refundOf(paymentId, 500), newKey()];
        const refunds = [await provider.createRefund(asked, key), await provider.createRefund(asked, key)];
        expect(refunds[1]?.id).toBe(refunds[0]?.id);
        expect(await provider.getPayment(paymentId)).toMatchObject({ refunded_cents: 500 });
      });

      test('a key that was used for a different request is refused', async () => {
        const key = newKey();
        await provider.createCustomer({ accountId: 'acc_1', name: 'Acme' }, key);
        const other = provider.createCustomer({ accountId: 'acc_1', name: 'Other' }, key);
        await expect(other).rejects.toEqual(refusal('refused'));
      });
    });

    describe('refunds', () => {
      test('part of a payment and then the rest can be refunded, and no more', async () => {
        const { paymentId } = await buy(opened, prices.pack);
        const asked = refundOf(paymentId, 300);
        const refund = await provider.createRefund(asked, newKey());
        expect(refund).toEqual({
          id: expect.any(String),
          payment_id: paymentId,
          amount_cents: 300,
          status: 'succeeded',
          reason: 'requested_by_customer',
          reference: asked.reference,
        });
        expect(await provider.getRefund(refund.id)).toEqual(refund);
        expect(await provider.findRefund(paymentId, asked.reference)).toEqual(refund);
        const tooMuch = provider.createRefund(refundOf(paymentId, 601), newKey());
        await expect(tooMuch).rejects.toEqual(refusal('refused'));
        await provider.createRefund(refundOf(paymentId, 600), newKey());
        expect(await provider.getPayment(paymentId)).toMatchObject({ status: 'succeeded', refunded_cents: 900 });
        const more = provider.createRefund(refundOf(paymentId, 1), newKey());
        await expect(more).rejects.toEqual(refusal('refused'));
      });
    });

    describe('refunds by reference', () => {
      test('one is found among several of its payment, and not for another payment', async () => {
        const { paymentId } = await buy(opened, prices.pack);
        const asked = [refundOf(paymentId, 100), refundOf(paymentId, 200)];
        for (const one of asked) await provider.createRefund(one, newKey());
        for (const { reference, amountCents } of asked)
          expect(await provider.findRefund(paymentId, reference)).toMatchObject({
            payment_id: paymentId,
            amount_cents: amountCents,
            reference,
          });
        expect(await provider.findRefund(paymentId, 'ref_none')).toBeUndefined();
        const other = await buy(opened, prices.pack);
        expect(await provider.findRefund(other.paymentId, asked[0]?.reference ?? '')).toBeUndefined();
      });
    });

    describeSubscriptions(() => opened);

    describeCards(() => opened);

    describeCredits(() => opened);

    describeDisputes(() => opened);

    describe('the payments of a customer', () => {
      test('are listed as each is found by id, including failed ones, and of no other customer', async () => {
        const { customer, subscriptionId } = await buy(opened, prices.small);
        await buy(opened, prices.pack);
        await provider.changePlan(
          { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' },
          newKey(),
        );
        const { id } = await provider.createCheckout(checkoutOf(customer, prices.pack), newKey());
        await opened.pay(await provider.getCheckout(id), 'declined');

        const payments = await Array.fromAsync(provider.listPayments(customer.id));
        const whatFor = payments.map(({ status, plan_key, invoice_id }) => [status, plan_key, invoice_id !== null]);
        expect(whatFor.toSorted()).toEqual([
          ['failed', 'pack', false],
          ['succeeded', 'large', true],
          ['succeeded', 'small', true],
        ]);
        for (const payment of payments) expect(await provider.getPayment(payment.id)).toEqual(payment);
      });

      test('are empty at first', async () => {
        const { id } = await newCustomer(provider);
        expect(await Array.fromAsync(provider.listPayments(id))).toEqual([]);
      });
    });

    describe('unknown ids', () => {
      const id = 'none_0';
      test.each<[string, () => Promise<unknown>]>([
        ['getCustomer', () => provider.getCustomer(id)],
        ['getCheckout', () => provider.getCheckout(id)],
        ['getPayment', () => provider.getPayment(id)],
        ['getInvoice', () => provider.getInvoice(id)],
        ['getSubscription', () => provider.getSubscription(id)],
        ['getRefund', () => provider.getRefund(id)],
        ['findRefund', () => provider.findRefund(id, 'ref_1')],
        ['getDispute', () => provider.getDispute(id)],
        ['getFraudWarning', () => provider.getFraudWarning(id)],
        ['getSetup', () => provider.getSetup(id)],
        ['setCancelAtPeriodEnd', () => provider.setCancelAtPeriodEnd(id, true, newKey())],
        ['createRefund', () => provider.createRefund(refundOf(id, 1), newKey())],
        ['createSetupIntent', () => provider.createSetupIntent(id, newKey())],
        ['listPaymentMethods', () => provider.listPaymentMethods(id)],
        ['useSavedCard', () => provider.useSavedCard(id, newKey())],
        ['listPayments', () => Array.fromAsync(provider.listPayments(id))],
      ])('%s answers that there is no such thing', async (_operation, ask) => {
        await expect(ask()).rejects.toEqual(refusal('not_found'));
      });
    });

    describeNotifications(() => opened);
  });
}
