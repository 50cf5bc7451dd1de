import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PaymentProvider } from '../src/provider/payment-provider.ts';
import { buy, eventsOf, newCustomer, newKey, type OpenProvider, prices, refusal } from './provider-support.ts';

/** Cards that are saved, and which of them is charged. */
export function describeCards(open: () => OpenProvider): void {
  describe('cards', () => {
    let opened: OpenProvider;
    let provider: PaymentProvider;
    beforeAll(() => {
      opened = open();
      provider = opened.provider;
    });

    describe('payment methods', () => {
      test('a card that a browser saves is listed until it is detached', async () => {
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
      test('their notification names them by id', async () => {
        const since = opened.now();
        const customer = await newCustomer(provider);
        const key = newKey();
        const { id, client_secret } = await provider.createSetupIntent(customer.id, key);
        expect(await provider.createSetupIntent(customer.id, key)).toEqual({ id, client_secret });
        expect(await provider.getSetup(id)).toEqual({ id, customer_id: customer.id });
        await opened.saveCard(client_secret, 'succeeds');
        const events = (await eventsOf(opened, since)).filter(({ object }) => object.id === id);
        expect(events.at(-1)).toMatchObject({ type: 'setup_intent.succeeded', object: { kind: 'setup', id } });
      });

      test('the saved card becomes the default once it is used, and stays so when repeated under the same key', async () => {
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

      test('the saved card is charged for a running subscription', async () => {
        const { customer, subscriptionId } = await buy(opened, prices.small);
        const { id, client_secret } = await provider.createSetupIntent(customer.id, newKey());
        await opened.saveCard(client_secret, 'fails_later');
        await provider.useSavedCard(id, newKey());
        const change = { subscriptionId, fromPlanKey: 'small', price: prices.large, type: 'upgrade' as const };
        await expect(provider.changePlan(change, newKey())).rejects.toEqual(refusal('declined'));
      });

      test('an unfinished one changes nothing', async () => {
        const { customer } = await buy(opened, prices.small);
        const before = await provider.listPaymentMethods(customer.id);
        const { id } = await provider.createSetupIntent(customer.id, newKey());
        await provider.useSavedCard(id, newKey());
        expect(await provider.listPaymentMethods(customer.id)).toEqual(before);
      });
    });
  });
}
