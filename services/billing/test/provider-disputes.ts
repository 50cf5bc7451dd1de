import { beforeAll, describe, expect, test } from '@jest/globals';
import type { PaymentProvider } from '../src/provider/payment-provider.ts';
import { buy, eventsOf, newKey, type OpenProvider, prices, refundOf, refusal } from './provider-support.ts';

/** Payments that a bank asks back, and those that it suspects. */
export function describeDisputes(open: () => OpenProvider): void {
  describe('disputes', () => {
    let opened: OpenProvider;
    let provider: PaymentProvider;
    beforeAll(() => {
      opened = open();
      provider = opened.provider;
    });

    /** A payment that is disputed, and the id of the dispute, which is announced. */
    async function disputed() {
      const since = opened.now();
      const { paymentId } = await buy(opened, prices.pack, 'disputed');
      const events = (await eventsOf(opened, since)).filter(({ object }) => object.kind === 'dispute');
      const found = await Promise.all(events.map(({ object }) => provider.getDispute(object.id)));
      const dispute = found.find(({ payment_id }) => payment_id === paymentId);
      if (!dispute) throw new Error('The dispute is not announced');
      return { paymentId, dispute };
    }

    test('one is open at first, of the whole payment, which cannot be refunded', async () => {
      const { paymentId, dispute } = await disputed();
      expect(dispute).toEqual({
        id: expect.any(String),
        payment_id: paymentId,
        amount_cents: 900,
        status: 'open',
        reason: 'fraudulent',
        created_at: expect.any(Date),
      });
      expect(await provider.getPayment(paymentId)).toMatchObject({ status: 'succeeded', disputed: true });
      await expect(provider.createRefund(refundOf(paymentId, 100), newKey())).rejects.toEqual(refusal('refused'));
    });

    test.each(['won', 'lost'] as const)('one that is %s stays so, and the payment has succeeded', async (outcome) => {
      const { paymentId, dispute } = await disputed();
      const payment = await provider.getPayment(paymentId);
      await opened.decide(payment, outcome);
      expect(await provider.getDispute(dispute.id)).toEqual({ ...dispute, status: outcome });
      await opened.decide(payment, outcome === 'won' ? 'lost' : 'won');
      expect(await provider.getDispute(dispute.id)).toMatchObject({ status: outcome });
      expect(await provider.getPayment(paymentId)).toMatchObject({ status: 'succeeded', disputed: true });
    });

    test('a warning of fraud is announced, and names its payment', async () => {
      const since = opened.now();
      const { paymentId } = await buy(opened, prices.pack, 'warned');
      const [event] = (await eventsOf(opened, since)).filter(({ object }) => object.kind === 'fraud_warning');
      const warning = await provider.getFraudWarning(event?.object.id ?? '');
      expect(warning).toEqual({ id: event?.object.id, payment_id: paymentId, actionable: true });
      expect(await provider.getPayment(paymentId)).toMatchObject({ disputed: false });
    });
  });
}
