import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PaymentProvider } from '../src/provider/payment-provider.ts';
import {
  checkoutOf,
  eventsOf,
  lastInvoice,
  newCustomer,
  newKey,
  type OpenProvider,
  prices,
  refusal,
} from './provider-support.ts';

const creditOf = (customerId: string, amountCents: number) => {
  return { customerId, amountCents, currency: 'usd', description: 'A refund', reference: `ref_${randomUUID()}` };
};

/** Store credit, and the invoices that use it. */
export function describeCredits(open: () => OpenProvider): void {
  describe('store credit', () => {
    let opened: OpenProvider;
    let provider: PaymentProvider;
    beforeAll(() => {
      opened = open();
      provider = opened.provider;
    });

    test('is added once under a key, is listed with our reference, and is announced', async () => {
      const since = opened.now();
      const { id } = await newCustomer(provider);
      const [asked, key] = [creditOf(id, 900), newKey()];
      const made = await provider.createCredit(asked, key);
      expect(made).toEqual({ id: expect.any(String), amount_cents: 900, reference: asked.reference });
      expect(await provider.createCredit(asked, key)).toEqual(made);
      const other = await provider.createCredit(creditOf(id, 100), newKey());
      expect(await provider.getCustomer(id)).toEqual({ id, balance_cents: -1_000 });
      const listed = await Array.fromAsync(provider.listCredits(id));
      expect(listed.toSorted((a, b) => b.amount_cents - a.amount_cents)).toEqual([made, other]);
      const events = (await eventsOf(opened, since)).filter(({ object }) => object.id === id);
      expect(events.at(-1)).toMatchObject({ type: 'customer.updated', object: { kind: 'customer', id } });
    });

    test('pays the next invoice before a card does', async () => {
      const since = opened.now();
      const customer = await newCustomer(provider);
      await provider.createCredit(creditOf(customer.id, 900), newKey());
      const { id } = await provider.createCheckout(checkoutOf(customer, prices.small), newKey());
      await opened.pay(await provider.getCheckout(id), 'succeeds');
      const invoice = await lastInvoice(opened, since, customer);
      expect(invoice).toMatchObject({ status: 'paid', total_cents: 4_900, amount_paid_cents: 4_000 });
      expect(await provider.getCustomer(customer.id)).toMatchObject({ balance_cents: 0 });
    });

    test('of nothing, and for an unknown customer, is refused', async () => {
      const { id } = await newCustomer(provider);
      await expect(provider.createCredit(creditOf('none_0', 1), newKey())).rejects.toEqual(refusal('not_found'));
      await expect(Array.fromAsync(provider.listCredits('none_0'))).rejects.toEqual(refusal('not_found'));
      expect(await Array.fromAsync(provider.listCredits(id))).toEqual([]);
    });
  });
}
