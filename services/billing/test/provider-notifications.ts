import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PaymentProvider, ProviderEvent } from '../src/provider/payment-provider.ts';
import { buy, eventsOf, newKey, type OpenProvider, prices, refundOf } from './provider-support.ts';

/** The notifications of a provider, and the signatures that it accepts. */
export function describeNotifications(open: () => OpenProvider): void {
  describe('notifications', () => {
    let opened: OpenProvider;
    let provider: PaymentProvider;
    beforeAll(() => {
      opened = open();
      provider = opened.provider;
    });

    test('events are listed in order, from a given time on', async () => {
      const since = opened.now();
      const { paymentId } = await buy(opened, prices.pack);
      await provider.createRefund(refundOf(paymentId, 900), newKey());
      const of = (events: ProviderEvent[]) => events.filter(({ object }) => object.id === paymentId);
      const types = of(await eventsOf(opened, since)).map(({ type }) => type);
      expect(types).toEqual(['payment_intent.succeeded', 'charge.refunded']);
      expect(of(await eventsOf(opened, new Date(opened.now().getTime() + 60_000)))).toEqual([]);
    });

    const seconds = () => Math.floor(opened.now().getTime() / 1000);
    const bodyOf = (object: object, type = 'checkout.session.completed') =>
      Buffer.from(JSON.stringify({ id: 'evt_1', object: 'event', created: 1_800_000_000, type, data: { object } }));
    const body = bodyOf({ id: 'cs_1', object: 'checkout.session' });
    const sign = (at: number, secret: string, signed = body) =>
      `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${signed}`).digest('hex')}`;
    const newest = () => opened.secrets[0] ?? '';

    test('a signed notification is read', () => {
      expect(provider.readWebhook(body, sign(seconds(), newest()))).toEqual({
        id: 'evt_1',
        type: 'checkout.session.completed',
        object: { kind: 'checkout', id: 'cs_1' },
        created_at: new Date(1_800_000_000_000),
      });
    });

    test('one signed with the previous secret is read while secrets are rotated', () => {
      expect(provider.readWebhook(body, sign(seconds(), opened.secrets[1] ?? ''))).toBeDefined();
      const both = `${sign(seconds(), 'unknown')},${sign(seconds(), newest()).split(',')[1]}`;
      expect(provider.readWebhook(body, both)).toBeDefined();
    });

    test('one with an unknown secret, changed, truncated, too old or unsigned is not read', () => {
      const right = sign(seconds(), newest());
      const wrong: [Buffer, string | undefined][] = [
        [body, sign(seconds(), 'unknown')],
        [body, sign(seconds(), '')],
        [Buffer.from(String(body).replace('cs_1', 'cs_2')), right],
        [body.subarray(0, -1), right],
        [body, right.slice(0, -1)],
        [body, right.replace(/^t=\d+/, `t=${seconds() + 1}`)],
        [body, right.replace('v1=', 'v0=')],
        [body, sign(seconds() - 302, newest())],
        [body, right.replace(/^t=\d+,/, '')],
        [body, 'nonsense'],
        [body, ''],
        [body, undefined],
      ];
      for (const [bytes, header] of wrong) expect(provider.readWebhook(bytes, header)).toBeUndefined();
      expect(provider.readWebhook(body, sign(seconds() - 290, newest()))).toBeDefined();
    });

    test.each([
      ['customer.updated', { id: 'cus_1', object: 'customer' }, { kind: 'customer', id: 'cus_1' }],
      ['payment_intent.succeeded', { id: 'pi_1', object: 'payment_intent' }, { kind: 'payment', id: 'pi_1' }],
      ['invoice.paid', { id: 'in_1', object: 'invoice' }, { kind: 'invoice', id: 'in_1' }],
      ['customer.subscription.updated', { id: 'sub_1', object: 'subscription' }, { kind: 'subscription', id: 'sub_1' }],
      ['refund.updated', { id: 're_1', object: 'refund' }, { kind: 'refund', id: 're_1' }],
      ['setup_intent.succeeded', { id: 'seti_1', object: 'setup_intent' }, { kind: 'setup', id: 'seti_1' }],
      ['charge.refunded', { id: 'ch_1', object: 'charge', payment_intent: 'pi_1' }, { kind: 'payment', id: 'pi_1' }],
      ['product.created', { id: 'prod_1', object: 'product' }, { kind: 'other', id: 'prod_1' }],
    ])('%s says what to look at', (type, object, expected) => {
      const sent = bodyOf(object, type);
      expect(provider.readWebhook(sent, sign(seconds(), newest(), sent))).toMatchObject({ type, object: expected });
    });
  });
}
