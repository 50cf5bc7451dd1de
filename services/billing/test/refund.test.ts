import { getRefund } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

let money: Money;
const faults = createFaults();
beforeAll(async () => {
  money = await startMoney({ between: faults.between });
});
beforeEach(() => {
  faults.mend();
  money.account.refuse(undefined);
});
afterAll(() => money.stop());

const holdOf = (id: string) => money.account.holds.get(id);
const refundEvents = async (tenant: Tenant, count: number) =>
  (await money.events(tenant, count)).filter(({ type }) => type.startsWith('refund.'));

test('201: a full refund, with all tokens, which were held before', async () => {
  const tenant = await money.newBuyer();
  const [payment] = await money.paymentsOf(tenant);
  const { status, body } = await money.refund(tenant);
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^ref_/),
      payment_id: payment?.id,
      amount_cents: 900,
      token_amount: 1_000,
      destination: 'payment_method',
      reason: 'requested_by_customer',
      status: 'succeeded',
      created_at: expect.any(String),
    },
  ]);
  expect(holdOf(body.id)).toMatchObject({
    account_id: tenant.account,
    amount: 1_000,
    payment_id: payment?.id,
    expires_in: 60 * 86_400_000,
  });
  expect(await money.paymentsOf(tenant)).toMatchObject([{ id: payment?.id, status: 'refunded', amount_cents: 900 }]);
  expect(await money.entriesOf(tenant)).toMatchObject([
    { seq: 2, kind: 'refund', amount_cents: -900, balance_after_cents: 0, refund_id: body.id, payment_id: null },
    { seq: 1, kind: 'payment', amount_cents: 900, balance_after_cents: 900, refund_id: null, payment_id: payment?.id },
  ]);
  expect((await tenant.owner.call(getRefund, { params: { id: body.id } })).body).toEqual(body);
  const [event] = await refundEvents(tenant, 2);
  expect(event).toMatchObject({
    type: 'refund.succeeded',
    data: {
      account_id: tenant.account,
      refund_id: body.id,
      payment_id: payment?.id,
      description: '1,000 tokens',
      amount_cents: 900,
      currency: 'usd',
      token_amount: 1_000,
      hold_id: holdOf(body.id)?.id,
    },
  });
});

test('201: a part, and then the rest: both take their share of the tokens, together all of them', async () => {
  const tenant = await money.newBuyer('tokens_10000');
  const part = (await money.refund(tenant, { amount_cents: 1_001, reason: 'duplicate' })).body;
  expect(part).toMatchObject({ amount_cents: 1_001, reason: 'duplicate', status: 'succeeded' });
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'partially_refunded', amount_cents: 7_900 }]);
  const rest = (await money.refund(tenant)).body;
  expect(rest.amount_cents).toBe(6_899);
  expect(part.token_amount + rest.token_amount).toBe(10_000);
  expect(part.token_amount).toBe(Math.ceil((10_000 * 1_001) / 7_900));
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'refunded' }]);
  expect((await money.entriesOf(tenant)).map(({ balance_after_cents }) => balance_after_cents)).toEqual([
    0, 6_899, 7_900,
  ]);
});

test('201: a subscription payment is refunded in the same way', async () => {
  const tenant = await money.newBuyer('starter');
  expect((await money.refund(tenant)).body).toMatchObject({ amount_cents: 4_900, token_amount: 10_000 });
});

test('201: twenty concurrent partial refunds exceed neither the amount nor the tokens', async () => {
  const tenant = await money.newBuyer();
  const answers = await Promise.all(Array.from({ length: 20 }, () => money.refund(tenant, { amount_cents: 90 })));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), ...Array(10).fill(422)]);
  const refunds = await money.refundsOf(tenant);
  expect(refunds.map(({ token_amount }) => token_amount)).toEqual(Array(10).fill(100));
  expect((await money.entriesOf(tenant))[0]).toMatchObject({ seq: 11, balance_after_cents: 0 });
});

test('201: a repeated key returns the first refund, also twenty times at once, and refunds once', async () => {
  const tenant = await money.newBuyer();
  const asked = { idempotency_key: 'once', amount_cents: 400 };
  const answers = await Promise.all(Array.from({ length: 20 }, () => money.refund(tenant, asked)));
  const again = await money.refund(tenant, asked);
  expect(answers.map(({ status, body }) => [status, body.id])).toEqual(Array(20).fill([201, again.body.id]));
  expect((await money.refund(tenant, { idempotency_key: 'once' })).body).toEqual(again.body);
  expect([(await money.refundsOf(tenant)).length, (await money.entriesOf(tenant)).length]).toEqual([1, 2]);
  await money.settle();
  expect((await refundEvents(tenant, 2)).length).toBe(1);
});

test('201: the same key can be used for another payment', async () => {
  const tenant = await money.newBuyer();
  await money.buy(tenant, 'tokens_1000');
  const payments = await money.paymentsOf(tenant);
  for (const { id } of payments)
    expect((await money.refund(tenant, { payment_id: id, idempotency_key: 'same' })).status).toBe(201);
  expect((await money.refundsOf(tenant)).length).toBe(2);
});

test('a refund made at the provider is stored, published and posted, without a hold of tokens', async () => {
  const tenant = await money.newBuyer();
  const [payment] = await money.rows('SELECT * FROM payments WHERE account_id = $1', tenant.account);
  const made = { paymentId: String(payment?.provider_payment_id), amountCents: 450, reference: newId('refund') };
  await money.provider.createRefund({ ...made, reason: 'fraudulent' }, 'by hand');
  await money.settle();
  expect(await money.refundsOf(tenant)).toMatchObject([{ amount_cents: 450, token_amount: 500, status: 'succeeded' }]);
  expect((await refundEvents(tenant, 2))[0]?.data).toMatchObject({ token_amount: 500, hold_id: null });
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'partially_refunded' }]);
  expect((await money.refund(tenant)).body).toMatchObject({ amount_cents: 450, token_amount: 500 });
});
