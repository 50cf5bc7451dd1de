import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PaymentProvider } from '../src/provider/payment-provider.ts';
import {
  buy,
  checkoutOf,
  eventsOf,
  invoicesOf,
  lastInvoice,
  newCustomer,
  newKey,
  type OpenProvider,
  prices,
  refusal,
} from './provider-support.ts';

/** The cost of a subscription, and its end. */
export function describeSubscriptions(open: () => OpenProvider): void {
  describe('subscriptions', () => {
    let opened: OpenProvider;
    let provider: PaymentProvider;
    beforeAll(() => {
      opened = open();
      provider = opened.provider;
    });

    test('one that is set to end with its period stays active, and can be resumed', async () => {
      const { subscriptionId } = await buy(opened, prices.small);
      const before = await provider.getSubscription(subscriptionId);
      const ending = await provider.setCancelAtPeriodEnd(subscriptionId, true, newKey());
      expect(ending).toEqual({ ...before, cancel_at_period_end: true });
      expect(await provider.setCancelAtPeriodEnd(subscriptionId, false, newKey())).toEqual(before);
    });

    test('an upgrade is charged at once, for the rest of the period', async () => {
      const since = opened.now();
      const { customer, subscriptionId } = await buy(opened, prices.small);
      const before = await provider.getSubscription(subscriptionId);
      const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
      expect(await provider.changePlan(change, newKey())).toEqual({ ...before, plan_key: 'large' });
      const invoice = await lastInvoice(opened, since, customer, 'update');
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

    test('an upgrade that is not paid does not happen', async () => {
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
      expect((await invoicesOf(opened, since, customer)).map(({ reason }) => reason)).toEqual(['create']);
    });

    test('a change to the current plan changes and invoices nothing, under any key', async () => {
      const since = opened.now();
      const { customer, subscriptionId } = await buy(opened, prices.small);
      const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
      const key = newKey();
      const changed = await provider.changePlan(change, key);
      const count = (await eventsOf(opened, since)).length;
      for (const again of [key, newKey()]) expect(await provider.changePlan(change, again)).toEqual(changed);
      expect(await provider.getSubscription(subscriptionId)).toEqual(changed);
      expect((await invoicesOf(opened, since, customer)).map(({ reason }) => reason)).toEqual(['create', 'update']);
      expect(await eventsOf(opened, since)).toHaveLength(count);
    });

    test('a change from a different plan than the current one is refused', async () => {
      const { customer, subscriptionId } = await buy(opened, prices.small);
      const before = await provider.getSubscription(subscriptionId);
      const since = opened.now();
      const change = { subscriptionId, fromPlanKey: 'yearly', price: prices.large, type: 'upgrade' as const };
      await expect(provider.changePlan(change, newKey())).rejects.toEqual(refusal('refused'));
      expect(await provider.getSubscription(subscriptionId)).toEqual(before);
      const invoiced = await invoicesOf(opened, since, customer);
      expect(invoiced.filter(({ reason }) => reason === 'update')).toEqual([]);
    });

    test('the total of an invoice includes the amount paid from credit', async () => {
      const since = opened.now();
      const { customer, subscriptionId } = await buy(opened, prices.large);
      const change = { subscriptionId, fromPlanKey: 'large', price: prices.small, type: 'upgrade' as const };
      await provider.changePlan(change, newKey());
      const { id } = await provider.createCheckout(checkoutOf(customer, prices.small), newKey());
      await opened.pay(await provider.getCheckout(id), 'succeeds');
      const invoice = await lastInvoice(opened, since, customer);
      expect(invoice).toMatchObject({ status: 'paid', amount_paid_cents: 0, total_cents: 4_900 });
    });

    test('from a month to a year the new period begins at once, and is charged in full', async () => {
      const since = opened.now();
      const { customer, subscriptionId } = await buy(opened, prices.small);
      const change = { subscriptionId, fromPlanKey: 'small', price: prices.yearly, type: 'upgrade' as const };
      const { current_period_end, plan_key } = await provider.changePlan(change, newKey());
      const days = (Number(current_period_end) - opened.now().getTime()) / 86_400_000;
      expect([plan_key, Math.round(days) >= 365]).toEqual(['yearly', true]);
      const { lines } = await lastInvoice(opened, since, customer, 'update');
      expect(lines).toContainEqual({ plan_key: 'yearly', amount_cents: 199_000, proration: false });
      expect(lines).toContainEqual({ plan_key: 'small', amount_cents: expect.any(Number), proration: true });
    });

    test('an upgrade whose card asks for its holder is pending, and takes effect once that is confirmed', async () => {
      const since = opened.now();
      const customer = await newCustomer(provider);
      const { id } = await provider.createCheckout(checkoutOf(customer, prices.small), newKey());
      const page = await provider.getCheckout(id);
      await opened.pay(page, 'authenticates_always');
      await opened.confirm(page.url);
      const { subscription_id } = await provider.getCheckout(id);
      const subscriptionId = subscription_id ?? '';
      const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' } as const;
      const asked = await provider.changePlan(change, newKey());
      expect(asked).toMatchObject({ status: 'active', plan_key: 'small', pending_plan_key: 'large' });
      expect(await provider.changePlan(change, newKey())).toEqual(asked);
      const invoice = await lastInvoice(opened, since, customer, 'update');
      expect(invoice).toMatchObject({ status: 'open', page_url: expect.stringMatching(/^https?:/) });
      const paymentId = invoice.payment_id ?? '';
      expect(await provider.getPayment(paymentId)).toMatchObject({ status: 'pending', needs_holder: true });
      await opened.confirm(invoice.page_url);
      expect(await provider.getSubscription(subscriptionId)).toMatchObject({
        plan_key: 'large',
        pending_plan_key: null,
      });
      expect(await provider.getInvoice(invoice.id)).toMatchObject({ status: 'paid', page_url: null });
      expect(await provider.getPayment(paymentId)).toMatchObject({ status: 'succeeded', needs_holder: false });
    });
  });
}
