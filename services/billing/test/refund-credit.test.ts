import { getBillingSummary } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
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

const destination = 'store_credit' as const;
const credit = async (tenant: Tenant) => (await tenant.owner.call(getBillingSummary)).body.credit_balance_cents;
const entries = async (tenant: Tenant) =>
  (await money.entriesOf(tenant)).map(({ kind, amount_cents, balance_after_cents }) => [
    kind,
    amount_cents,
    balance_after_cents,
  ]);

test('201: to store credit: the tokens are held first, the balance has it at once, and the ledger too', async () => {
  const tenant = await money.newBuyer();
  const [payment] = await money.paymentsOf(tenant);
  const { status, body } = await money.refund(tenant, { destination, amount_cents: 450 });
  expect([status, body]).toEqual([201, expect.objectContaining({ destination, amount_cents: 450, token_amount: 500 })]);
  expect(body.status).toBe('succeeded');
  expect(money.account.holds.get(body.id)).toMatchObject({ amount: 500, payment_id: payment?.id });
  expect(await credit(tenant)).toBe(450);
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'partially_refunded', amount_cents: 900 }]);
  expect(await money.entriesOf(tenant)).toMatchObject([
    { kind: 'refund', amount_cents: -450, refund_id: body.id, description: 'Refund to store credit: 1,000 tokens' },
    { kind: 'payment', amount_cents: 900 },
  ]);
  const [refunded] = (await money.events(tenant, 2)).filter(({ type }) => type === 'refund.succeeded');
  expect(refunded?.data).toMatchObject({ destination, amount_cents: 450, token_amount: 500 });
  // The rest goes back to the card, and no more.
  expect((await money.refund(tenant)).body).toMatchObject({ amount_cents: 450, destination: 'payment_method' });
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'refunded' }]);
  expect((await money.refund(tenant, { destination, amount_cents: 1 })).status).toBe(422);
});

test('the next invoices use it first, and the ledger says so; what they used can only be credited again', async () => {
  const tenant = await money.newBuyer('tokens_10000');
  await money.refund(tenant, { destination });
  await money.buy(tenant, 'starter');
  expect(await credit(tenant)).toBe(3_000);
  expect(await entries(tenant)).toEqual([
    ['credit', 4_900, 4_900],
    ['refund', -7_900, 0],
    ['payment', 7_900, 7_900],
  ]);
  expect((await money.entriesOf(tenant))[0]).toMatchObject({ description: 'Paid from store credit: Starter' });
  money.clock.advance({ days: 32 });
  await money.settle();
  expect(await credit(tenant)).toBe(0);
  expect((await entries(tenant)).slice(0, 2)).toEqual([
    ['credit', 3_000, 9_800],
    ['payment', 1_900, 6_800],
  ]);
  const [renewal, first] = await money.paymentsOf(tenant);
  expect([renewal?.amount_cents, first?.amount_cents]).toEqual([1_900, 0]);
  expect((await money.refund(tenant, { payment_id: first?.id ?? '' })).status).toBe(422);
  const back = await money.refund(tenant, { payment_id: first?.id ?? '', destination });
  expect(back.body).toMatchObject({ amount_cents: 4_900, token_amount: 10_000 });
  expect(await money.paymentsOf(tenant)).toMatchObject([{}, { status: 'refunded' }, {}]);
  expect(await credit(tenant)).toBe(4_900);
});

test('a key names one destination; twenty requests under it give the credit once', async () => {
  const tenant = await money.newBuyer();
  const asked = { idempotency_key: 'once', destination };
  const answers = await Promise.all(Array.from({ length: 20 }, () => money.refund(tenant, asked)));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
  expect((await money.refund(tenant, { idempotency_key: 'once' })).status).toBe(409);
  await money.settle();
  expect(await credit(tenant)).toBe(900);
  expect(await entries(tenant)).toHaveLength(2);
  expect((await money.events(tenant, 2)).filter(({ type }) => type === 'refund.succeeded')).toHaveLength(1);
});

test('502: an answer that is lost, and a key that is forgotten, give the credit once, by a job', async () => {
  const tenant = await money.newBuyer();
  faults.loseAnswer('createCredit');
  expect((await money.refund(tenant, { destination })).status).toBe(502);
  expect(await entries(tenant)).toHaveLength(1);
  faults.mend();
  money.clock.advance({ minutes: 13 * 60 });
  await eventually(async () => {
    expect(await money.refundsOf(tenant)).toMatchObject([{ status: 'succeeded' }]);
  });
  expect(faults.callsOf('createCredit')).toEqual([]);
  expect(await credit(tenant)).toBe(900);
});

test('402 and 422: spent tokens and a refusal of the provider give nothing', async () => {
  const tenant = await money.newBuyer();
  money.account.refuse({ status: 402, kind: 'insufficient-balance', detail: 'Spent.' });
  expect((await money.refund(tenant, { destination })).status).toBe(402);
  money.account.refuse(undefined);
  faults.fail('createCredit', 'refused');
  expect((await money.refund(tenant, { destination })).status).toBe(422);
  faults.mend();
  expect(await money.refundsOf(tenant)).toMatchObject([{ status: 'failed', destination }]);
  expect(await credit(tenant)).toBe(0);
  expect((await money.refund(tenant, { destination })).status).toBe(201);
});
