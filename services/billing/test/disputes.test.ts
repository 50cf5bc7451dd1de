import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from './simulated-support.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney({ environment: { REFUND_FRAUD_WARNINGS: 'true' } });
});
afterAll(() => money.stop());

/** A new account whose payment for 1,000 tokens is disputed. */
async function disputed() {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000', 'disputed');
  return tenant;
}
async function decide(tenant: Tenant, action: 'win' | 'lose') {
  const [payment] = await money.paymentsOf(tenant);
  await send(payment?.receipt_url ?? '', { action });
  await money.settle();
}
const told = async (tenant: Tenant, count: number) =>
  (await money.events(tenant, count)).filter(({ type }) => type.startsWith('dispute.'));
const statusOf = async (tenant: Tenant) => (await money.paymentsOf(tenant))[0]?.status;
const sums = async (tenant: Tenant) =>
  (await money.entriesOf(tenant)).map(({ kind, amount_cents, balance_after_cents }) => [
    kind,
    amount_cents,
    balance_after_cents,
  ]);

test('a disputed payment says so, is published once, and 409: no refund of it begins', async () => {
  const tenant = await disputed();
  const [payment] = await money.paymentsOf(tenant);
  expect(payment).toMatchObject({ status: 'disputed', amount_cents: 900 });
  for (const destination of ['payment_method', 'store_credit'] as const) {
    const { problem } = await money.refund(tenant, { destination });
    const detail = `body.payment_id: payment ${payment?.id} is disputed.`;
    expect(problem).toMatchObject({ status: 409, kind: 'conflict', detail });
  }
  expect(await sums(tenant)).toEqual([['payment', 900, 900]]);
  const [opened] = await told(tenant, 2);
  expect(opened).toMatchObject({
    type: 'dispute.opened',
    data: {
      account_id: tenant.account,
      payment_id: payment?.id,
      description: '1,000 tokens',
      amount_cents: 900,
      currency: 'usd',
      token_amount: 1_000,
      reason: 'fraudulent',
    },
  });
  expect(await money.refundsOf(tenant)).toEqual([]);
});

test('one that is won leaves the money, and the payment can be refunded again', async () => {
  const tenant = await disputed();
  await decide(tenant, 'win');
  expect(await statusOf(tenant)).toBe('succeeded');
  expect((await told(tenant, 3)).map(({ type }) => type)).toEqual(['dispute.opened', 'dispute.won']);
  expect((await money.refund(tenant)).status).toBe(201);
  expect(await statusOf(tenant)).toBe('refunded');
});

test('one that is lost takes the money from the ledger once, and the payment stays disputed', async () => {
  const tenant = await disputed();
  await decide(tenant, 'lose');
  await decide(tenant, 'lose');
  await decide(tenant, 'win');
  expect(await statusOf(tenant)).toBe('disputed');
  expect(await sums(tenant)).toEqual([
    ['dispute', -900, 0],
    ['payment', 900, 900],
  ]);
  const [payment] = await money.paymentsOf(tenant);
  const [entry] = await money.entriesOf(tenant);
  expect(entry).toMatchObject({ payment_id: payment?.id, refund_id: null, description: 'Lost dispute: 1,000 tokens' });
  expect(entry).not.toHaveProperty('dispute_id');
  expect((await told(tenant, 3)).map(({ type }) => type)).toEqual(['dispute.opened', 'dispute.lost']);
  expect((await money.refund(tenant)).status).toBe(409);
});

test('a renewal and a partly refunded payment are disputed alike, for what is left', async () => {
  const tenant = await money.newBuyer('starter');
  await money.refund(tenant, { amount_cents: 900 });
  const [payment] = await money.paymentsOf(tenant);
  await send(payment?.receipt_url ?? '', { action: 'dispute' });
  await money.settle();
  await decide(tenant, 'lose');
  expect(await sums(tenant)).toEqual([
    ['dispute', -4_000, 0],
    ['refund', -900, 4_000],
    ['payment', 4_900, 4_900],
  ]);
  const [opened] = await told(tenant, 5);
  expect(opened?.data).toMatchObject({ amount_cents: 4_000, token_amount: Math.ceil((10_000 * 4_000) / 4_900) });
});

test('what a bank has decided stays so in the database', async () => {
  const tenant = await disputed();
  await decide(tenant, 'win');
  const set = money.db.query(`UPDATE disputes SET status = 'lost' WHERE account_id = $1`, [tenant.account]);
  await expect(set).rejects.toThrow(/is decided, and stays so/);
});

test('a warning of fraud refunds all that is left at once, and once; it takes the tokens as for a refund at the provider', async () => {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000', 'warned');
  const [payment] = await money.paymentsOf(tenant);
  expect(payment).toMatchObject({ status: 'refunded' });
  expect(await money.refundsOf(tenant)).toMatchObject([
    { amount_cents: 900, token_amount: 1_000, reason: 'fraudulent', status: 'succeeded' },
  ]);
  await send(payment?.receipt_url ?? '', { action: 'warn' });
  await money.settle();
  expect(await money.refundsOf(tenant)).toHaveLength(1);
  expect(await sums(tenant)).toHaveLength(2);
});
