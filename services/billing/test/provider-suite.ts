import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CatalogueEntry, PaymentProvider } from '../src/provider/payment-provider.ts';
import { describeNotifications } from './provider-notifications.ts';
import {
  buy,
  type Customer,
  checkoutOf,
  eventsOf,
  newCustomer,
  newKey,
  type OpenProvider,
  prices,
  refundOf,
  refusal,
} from './provider-support.ts';

/** What whoever moves the money must do, whichever it is. */
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
      test('are made once, and are other ones when their amounts are', async () => {
        const entry = { ...prices.pack, plan_key: `pack_${randomUUID().slice(0, 8)}` };
        const idOf = async (asked: CatalogueEntry) => (await provider.syncPrices([asked])).get(asked.plan_key);
        const first = await idOf(entry);
        expect(first).toBeTruthy();
        expect(await idOf(entry)).toBe(first);
        expect(await idOf({ ...entry, amount_cents: 1_000 })).not.toBe(first);
      });
    });

    describe('checkouts', () => {
      test('a new one is open, has a page, and carries what is ours', async () => {
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

      test('a checkout that was expired takes no payment, and is not expired twice', async () => {
        const made = await provider.createCheckout(checkoutOf(await newCustomer(provider), prices.pack), newKey());
        await provider.expireCheckout(made.id);
        await opened.pay(made, 'succeeds');
        expect(await provider.getCheckout(made.id)).toMatchObject({ status: 'expired', url: null, payment_id: null });
        await expect(provider.expireCheckout(made.id)).rejects.toEqual(refusal('refused'));
      });

      test('a subscription that is paid begins, with an invoice, a payment and a saved card', async () => {
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

        const invoice = await lastInvoice(began, customer);
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

      test('what is paid once cannot be subscribed to', async () => {
        const asked = checkoutOf(await newCustomer(provider), prices.pack);
        await expect(provider.createCheckout({ ...asked, mode: 'subscription' }, newKey())).rejects.toEqual(
          refusal('refused'),
        );
      });
    });

    describe('keys', () => {
      test('twenty requests at once under one key are one, and answered alike', async () => {
        const asked = checkoutOf(await newCustomer(provider), prices.pack);
        const key = newKey();
        const made = await Promise.all(Array.from({ length: 20 }, () => provider.createCheckout(asked, key)));
        expect(new Set(made.map(({ id }) => id)).size).toBe(1);
      });

      test('a repeated refund gives back once', async () => {
        const { paymentId } = await buy(opened, prices.pack);
        const [asked, key] = [refundOf(paymentId, 500), newKey()];
        const refunds = [await provider.createRefund(asked, key), await provider.createRefund(asked, key)];
        expect(refunds[1]?.id).toBe(refunds[0]?.id);
        expect(await provider.getPayment(paymentId)).toMatchObject({ refunded_cents: 500 });
      });

      test('a key that was used for another request is refused', async () => {
        const key = newKey();
        await provider.createCustomer({ accountId: 'acc_1', name: 'Acme' }, key);
        const other = provider.createCustomer({ accountId: 'acc_1', name: 'Other' }, key);
        await expect(other).rejects.toEqual(refusal('refused'));
      });
    });

    describe('refunds', () => {
      test('part of a payment and then the rest are given back, and no more', async () => {
        const { paymentId } = await buy(opened, prices.pack);
        const asked = refundOf(paymentId, 300);
        const refund = await provider.createRefund(asked, newKey());
        expect(refund).toEqual({
          id: expect.any(String),
          payment_id: paymentId,
          amount_cents: 300,
          status: 'succeeded',
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
      test('one is found among several of its payment, and not under another', async () => {
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

    describe('subscriptions', () => {
      test('one that is to end at the end of its period stays active, and can go on', async () => {
        const { subscriptionId } = await buy(opened, prices.small);
        const before = await provider.getSubscription(subscriptionId);
        const ending = await provider.setCancelAtPeriodEnd(subscriptionId, true, newKey());
        expect(ending).toEqual({ ...before, cancel_at_period_end: true });
        expect(await provider.setCancelAtPeriodEnd(subscriptionId, false, newKey())).toEqual(before);
      });

      test('an upgrade is paid for at once, for the rest of the period', async () => {
        const since = opened.now();
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const before = await provider.getSubscription(subscriptionId);
        const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
        expect(await provider.changePlan(change, newKey())).toEqual({ ...before, plan_key: 'large' });
        const invoice = await lastInvoice(since, customer, 'update');
        expect(invoice).toMatchObject({ status: 'paid', plan_key: 'large', subscription_id: subscriptionId });
        expect(Math.abs(invoice.amount_paid_cents - 15_000)).toBeLessThanOrEqual(1);
        const lines = invoice.lines.toSorted((a, b) => a.amount_cents - b.amount_cents);
        expect(lines).toEqual([
          { plan_key: 'small', amount_cents: expect.any(Number), proration: true },
          { plan_key: 'large', amount_cents: expect.any(Number), proration: true },
        ]);
        const [back = 0, charged = 0] = lines.map(({ amount_cents }) => amount_cents);
        expect([back < 0, back + charged]).toEqual([true, invoice.amount_paid_cents]);
      });

      test('an upgrade that is not paid for does not happen', async () => {
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const [card] = await provider.listPaymentMethods(customer.id);
        const { client_secret } = await provider.createSetupIntent(customer.id, newKey());
        await opened.saveCard(client_secret, 'fails_later');
        await provider.detachPaymentMethod(customer.id, card?.id ?? '');
        const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
        await expect(provider.changePlan(change, newKey())).rejects.toEqual(refusal('declined'));
        expect(await provider.getSubscription(subscriptionId)).toMatchObject({ status: 'active', plan_key: 'small' });
      });

      test('a downgrade happens at once, in the same period, without an invoice', async () => {
        const since = opened.now();
        const { customer, subscriptionId } = await buy(opened, prices.large);
        const before = await provider.getSubscription(subscriptionId);
        const change = { subscriptionId, fromPlanKey: 'large', price: prices.small, type: 'downgrade' as const };
        expect(await provider.changePlan(change, newKey())).toEqual({ ...before, plan_key: 'small' });
        expect((await invoicesOf(since, customer)).map(({ reason }) => reason)).toEqual(['create']);
      });

      test('a change to the plan that it is on changes and invoices nothing, whatever its key', async () => {
        const since = opened.now();
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
        const key = newKey();
        const changed = await provider.changePlan(change, key);
        const told = (await eventsOf(opened, since)).length;
        for (const again of [key, newKey()]) expect(await provider.changePlan(change, again)).toEqual(changed);
        expect(await provider.getSubscription(subscriptionId)).toEqual(changed);
        expect((await invoicesOf(since, customer)).map(({ reason }) => reason)).toEqual(['create', 'update']);
        expect(await eventsOf(opened, since)).toHaveLength(told);
      });

      test('a change from a plan that it is not on is refused', async () => {
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const before = await provider.getSubscription(subscriptionId);
        const since = opened.now();
        const change = { subscriptionId, fromPlanKey: 'yearly', price: prices.large, type: 'upgrade' as const };
        await expect(provider.changePlan(change, newKey())).rejects.toEqual(refusal('refused'));
        expect(await provider.getSubscription(subscriptionId)).toEqual(before);
        const invoiced = await invoicesOf(since, customer);
        expect(invoiced.filter(({ reason }) => reason === 'update')).toEqual([]);
      });

      test('what credit pays of an invoice is in its total', async () => {
        const since = opened.now();
        const { customer, subscriptionId } = await buy(opened, prices.large);
        const change = { subscriptionId, fromPlanKey: 'large', price: prices.small, type: 'upgrade' as const };
        await provider.changePlan(change, newKey());
        const { id } = await provider.createCheckout(checkoutOf(customer, prices.small), newKey());
        await opened.pay(await provider.getCheckout(id), 'succeeds');
        const invoice = await lastInvoice(since, customer);
        expect(invoice).toMatchObject({ status: 'paid', amount_paid_cents: 0, total_cents: 4_900 });
      });

      test('from a month to a year the new period begins at once, and is paid for whole', async () => {
        const since = opened.now();
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const change = { subscriptionId, fromPlanKey: 'small', price: prices.yearly, type: 'upgrade' as const };
        const { current_period_end, plan_key } = await provider.changePlan(change, newKey());
        const days = (Number(current_period_end) - opened.now().getTime()) / 86_400_000;
        expect([plan_key, Math.round(days) >= 365]).toEqual(['yearly', true]);
        const { lines } = await lastInvoice(since, customer, 'update');
        expect(lines).toContainEqual({ plan_key: 'yearly', amount_cents: 199_000, proration: false });
        expect(lines).toContainEqual({ plan_key: 'small', amount_cents: expect.any(Number), proration: true });
      });
    });

    describe('payment methods', () => {
      test('a card that a browser saves is listed, until it is detached', async () => {
        const customer = await newCustomer(provider);
        const { client_secret } = await provider.createSetupIntent(customer.id, newKey());
        await opened.saveCard(client_secret, 'succeeds');
        const [card, ...others] = await provider.listPaymentMethods(customer.id);
        expect([card, others]).toEqual([expect.objectContaining({ brand: 'visa', last4: '4242' }), []]);

        const stranger = await newCustomer(provider);
        const stolen = provider.detachPaymentMethod(stranger.id, card?.id ?? '');
        await expect(stolen).rejects.toEqual(refusal('not_found'));
        await provider.detachPaymentMethod(customer.id, card?.id ?? '');
        expect(await provider.listPaymentMethods(customer.id)).toEqual([]);
        const again = provider.detachPaymentMethod(customer.id, card?.id ?? '');
        await expect(again).rejects.toEqual(refusal('not_found'));
      });
    });

    describe('set-ups', () => {
      test('what they have saved is told, and named by their id', async () => {
        const since = opened.now();
        const customer = await newCustomer(provider);
        const key = newKey();
        const { id, client_secret } = await provider.createSetupIntent(customer.id, key);
        expect(await provider.createSetupIntent(customer.id, key)).toEqual({ id, client_secret });
        expect(await provider.getSetup(id)).toEqual({ id, customer_id: customer.id });
        await opened.saveCard(client_secret, 'succeeds');
        const told = (await eventsOf(opened, since)).filter(({ object }) => object.id === id);
        expect(told.at(-1)).toMatchObject({ type: 'setup_intent.succeeded', object: { kind: 'setup', id } });
      });

      test('the card that one saved is the default once it is used, and stays it under the same key', async () => {
        const customer = await newCustomer(provider);
        const saved: string[] = [];
        for (const card of ['succeeds', 'fails_later'] as const) {
          const { id, client_secret } = await provider.createSetupIntent(customer.id, newKey());
          await opened.saveCard(client_secret, card);
          saved.push(id);
        }
        const defaults = async () => {
          const methods = await provider.listPaymentMethods(customer.id);
          return methods.filter(({ is_default }) => is_default).map(({ last4 }) => last4);
        };
        const [first = '', second = ''] = saved;
        const key = newKey();
        for (const _ of ['first', 'repeated']) {
          await provider.useSavedCard(first, key);
          expect(await defaults()).toEqual(['4242']);
        }
        await provider.useSavedCard(second, newKey());
        expect(await defaults()).toEqual(['0341']);
      });

      test('the card that one saved is charged for a running subscription', async () => {
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const { id, client_secret } = await provider.createSetupIntent(customer.id, newKey());
        await opened.saveCard(client_secret, 'fails_later');
        await provider.useSavedCard(id, newKey());
        const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
        await expect(provider.changePlan(change, newKey())).rejects.toEqual(refusal('declined'));
      });

      test('one that is not finished changes nothing', async () => {
        const { customer } = await buy(opened, prices.small);
        const before = await provider.listPaymentMethods(customer.id);
        const { id } = await provider.createSetupIntent(customer.id, newKey());
        await provider.useSavedCard(id, newKey());
        expect(await provider.listPaymentMethods(customer.id)).toEqual(before);
      });
    });

    describe('the payments of a customer', () => {
      test('are listed as each is found, those that failed too, and nobody else’s', async () => {
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

      test('are none before there are some', async () => {
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

    /** Of a customer, oldest first, each once. */
    async function invoicesOf(since: Date, customer: Customer) {
      const told = (await eventsOf(opened, since)).filter(({ object }) => object.kind === 'invoice');
      const ids = new Set(told.map(({ object }) => object.id));
      const invoices = await Promise.all([...ids].map((id) => provider.getInvoice(id)));
      return invoices.filter(({ customer_id }) => customer_id === customer.id);
    }

    async function lastInvoice(since: Date, customer: Customer, reason = 'create') {
      const found = (await invoicesOf(since, customer)).findLast((invoice) => invoice.reason === reason);
      if (!found) throw new Error(`No invoice of reason ${reason}`);
      return found;
    }
  });
}
