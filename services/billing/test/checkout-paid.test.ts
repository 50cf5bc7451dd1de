import { getCheckoutSession, listMoneyEntries, listPayments } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

test('a paid token pack is one payment, one ledger entry and one event', async () => {
  const tenant = await money.newTenant();
  const { status } = await money.buy(tenant, 'tokens_1000');
  expect(status).toBe('complete');
  const { entries: payments } = (await tenant.owner.call(listPayments)).body;
  expect(payments).toMatchObject([{ kind: 'token_pack', amount_cents: 900, token_amount: 1000, status: 'succeeded' }]);
  const { entries } = (await tenant.owner.call(listMoneyEntries)).body;
  expect(entries).toMatchObject([{ seq: 1, kind: 'payment', amount_cents: 900, balance_after_cents: 900 }]);
  expect((await money.allEvents(tenant)).map(({ type }) => type)).toEqual(['payment.succeeded']);
});

test('a declined card leaves only a failed payment, which another card then pays', async () => {
  const tenant = await money.newTenant();
  const page = await money.checkout(tenant, 'tokens_1000');
  await money.pay(page, 'declined');
  await money.settle();
  const ofTenant = async () => (await tenant.owner.call(listPayments)).body.entries;
  const [failed, ...others] = await ofTenant();
  expect([failed, others]).toMatchObject([{ status: 'failed', receipt_url: null }, []]);
  expect((await tenant.owner.call(listMoneyEntries)).body.entries).toEqual([]);
  const params = { id: page.id };
  expect((await tenant.owner.call(getCheckoutSession, { params })).body.status).toBe('open');
  await money.pay(page);
  await money.settle();
  expect(await ofTenant()).toMatchObject([{ id: failed?.id, status: 'succeeded' }]);
});
