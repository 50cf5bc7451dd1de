import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PaymentProvider } from '../src/provider/index.ts';
import { type Money, startMoney } from './support-money.ts';
import { notification, sendWebhook } from './support-webhooks.ts';

let money: Money;
/** An abandoned first attempt: a copy of the payment `of`, for the same invoice. */
const givenUp = { id: 'pi_given_up', of: '' };
const withEarlierTry = (provider: PaymentProvider): PaymentProvider =>
  new Proxy(provider, {
    get(target, name: keyof PaymentProvider) {
      if (name !== 'getPayment') return target[name];
      return async (id: string) =>
        id === givenUp.id
          ? { ...(await target.getPayment(givenUp.of)), id, status: 'failed', failure: 'Given up.', receipt_url: null }
          : target.getPayment(id);
    },
  });
beforeAll(async () => {
  money = await startMoney({ between: withEarlierTry });
});
afterAll(() => money.stop());

test('an abandoned attempt does not replace the payment that paid the invoice', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'starter');
  const row = () => money.rows('SELECT * FROM payments WHERE account_id = $1', tenant.account);
  const before = await row();
  givenUp.of = String(before[0]?.provider_payment_id);
  await sendWebhook(money, notification('payment_intent.canceled', { id: givenUp.id, object: 'payment_intent' }));
  await money.settle();
  expect(before).toMatchObject([{ status: 'succeeded' }]);
  expect(await row()).toEqual(before);
});
