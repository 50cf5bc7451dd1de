import { invoicePaid, paymentSucceeded } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { atOnce, count, join, type Person, startAccountService } from './support.ts';
import { capture, entriesOf, eventsOf, expectPromisesKept, figuresOf, holdId } from './support-ledger.ts';
import { buy, paymentOf, purchaseOf } from './support-purchases.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
});
beforeEach(async () => {
  ada = await join(service);
});
afterAll(() => service.stop());

const purchases = async () => (await entriesOf(service, ada.accountId)).filter(({ kind }) => kind === 'purchase');
const granted = async () => (await eventsOf(service, ada.accountId, 'tokens.granted')).slice(1); // Of the sign-up.

test.each([
  ['payment.succeeded', paymentSucceeded],
  ['invoice.paid', invoicePaid],
])('%s: its tokens are granted without expiry, and tokens.granted is published', async (_type, event) => {
  const payment = paymentOf(ada.accountId);
  await service.deliver(event, payment, ada.accountId);
  expect(await purchases()).toMatchObject([{ amount: 500, balance_after: 1500, seq: 2, description: '500 tokens' }]);
  const entry_id = await purchaseOf(service, payment);
  const which = 'entry_id = $1 AND remaining = 500 AND priority = 100 AND expires_at IS NULL';
  expect(await count(service, 'token_grants', which, entry_id)).toBe(1);
  const data = { account_id: ada.accountId, entry_id, amount: 500, expires_at: null };
  expect(await granted()).toEqual([{ type: 'tokens.granted', data }]);
  await expectPromisesKept(service, ada.accountId);
});

test('purchased tokens are used after the free grant', async () => {
  const { grantId } = await buy(service, ada.accountId);
  await capture(service, await holdId(service, ada.accountId, { amount: 1000 }), 1000);
  expect(await count(service, 'token_grants', 'entry_id = $1 AND remaining = 500', grantId)).toBe(1);
});

test('a payment that is redelivered, published again, or also published as an invoice is granted once', async () => {
  const payment = paymentOf(ada.accountId);
  const delivered = await service.deliver(paymentSucceeded, payment, ada.accountId);
  await service.redeliver(delivered, paymentSucceeded.topic.name);
  await service.deliver(paymentSucceeded, payment, ada.accountId);
  await service.deliver(invoicePaid, payment, ada.accountId);
  expect(await purchases()).toHaveLength(1);
  expect(await granted()).toHaveLength(1);
});

test('20 deliveries of one payment at once, each with a different event id, are granted once', async () => {
  const payment = paymentOf(ada.accountId);
  await atOnce(() => service.deliver(paymentSucceeded, payment, ada.accountId));
  expect(await purchases()).toHaveLength(1);
  expect(await granted()).toHaveLength(1);
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: 1500 });
});

test('20 payments at once are all granted', async () => {
  await atOnce(() => buy(service, ada.accountId, { token_amount: 5 }));
  expect(await purchases()).toHaveLength(20);
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: 1100 });
  await expectPromisesKept(service, ada.accountId);
});

test('a payment for no tokens grants nothing', async () => {
  await buy(service, ada.accountId, { token_amount: 0 });
  expect(await purchases()).toEqual([]);
  expect(await granted()).toEqual([]);
});

test('a payment of a deleted account has no effect, and makes no dead letter', async () => {
  const unknown = newId('account');
  for (const event of [paymentSucceeded, invoicePaid]) await service.deliver(event, paymentOf(unknown), unknown);
  expect(await count(service, 'dead_letters')).toBe(0);
  expect(await count(service, 'ledger_entries', 'account_id = $1', unknown)).toBe(0);
});
