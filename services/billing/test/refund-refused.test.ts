import { createRefund } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ProviderError } from '../src/provider/index.ts';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney } from './support-money.ts';

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

test.each<[object, RegExp]>([
  [{ account_id: 'acme' }, /^body\.account_id: must be an account id/],
  [{ payment_id: newId('refund') }, /^body\.payment_id: must be a payment id/],
  [{ idempotency_key: '' }, /^body\.idempotency_key: /],
  [{ idempotency_key: 'x'.repeat(201) }, /^body\.idempotency_key: /],
  [{ amount_cents: 0 }, /^body\.amount_cents: /],
  [{ amount_cents: -1 }, /^body\.amount_cents: /],
  [{ amount_cents: 1.5 }, /^body\.amount_cents: /],
  [{ amount_cents: '900' }, /^body\.amount_cents: /],
  [{ reason: 'changed_my_mind' }, /^body\.reason: must be one of /],
  [{ destination: 'elsewhere' }, /^body\.destination: must be one of /],
])('400: a refund of %j', async (over, detail) => {
  const body = { account_id: newId('account'), payment_id: newId('payment'), idempotency_key: 'k', ...over };
  const { status, problem } = await money.internal.call(createRefund, { body });
  expect([status, problem?.detail]).toEqual([400, expect.stringMatching(detail)]);
});

test('401: only other services of the platform can make refunds', async () => {
  const tenant = await money.newBuyer();
  const [payment] = await money.paymentsOf(tenant);
  const body = { account_id: tenant.account, payment_id: payment?.id ?? '', idempotency_key: 'k' };
  const tokens = [undefined, personToken({ account: tenant.account }), 'opaque'];
  for (const token of tokens)
    expect((await money.client.with({ token }).call(createRefund, { body })).status).toBe(401);
  expect(await money.refundsOf(tenant)).toEqual([]);
});

test('402: when the tokens are spent no refund is made or stored, and the provider is not called', async () => {
  const tenant = await money.newBuyer();
  money.account.refuse({ status: 402, kind: 'insufficient-balance', detail: 'The balance is 3, and 1000 are needed.' });
  const { problem } = await money.refund(tenant, { idempotency_key: 'later' });
  expect(problem).toMatchObject({
    status: 402,
    kind: 'insufficient-balance',
    detail: 'The balance is 3, and 1000 are needed.',
  });
  expect([await money.refundsOf(tenant), faults.callsOf('createRefund')]).toEqual([[], []]);
  expect((await money.entriesOf(tenant)).length).toBe(1);
  money.account.refuse(undefined);
  expect((await money.refund(tenant, { idempotency_key: 'later' })).status).toBe(201);
});

test.each([
  { status: 409, kind: 'conflict', detail: 'The account is closed.' },
  { status: 422, kind: 'unprocessable', detail: 'Not so.' },
])('$status: the refusal to hold the tokens is passed on, and nothing is stored', async (problem) => {
  const tenant = await money.newBuyer();
  money.account.refuse(problem);
  expect((await money.refund(tenant)).problem).toMatchObject(problem);
  expect([await money.refundsOf(tenant), faults.callsOf('createRefund')]).toEqual([[], []]);
});

test('404: a payment of another account and an unknown one get the same response', async () => {
  const [tenant, other] = [await money.newBuyer(), await money.newBuyer()];
  const [theirs] = await money.paymentsOf(other);
  const unknown = await money.refund(tenant, { payment_id: newId('payment') });
  expect(unknown.problem).toMatchObject({ status: 404, kind: 'not-found' });
  expect((await money.refund(tenant, { payment_id: theirs?.id ?? '' })).problem).toEqual(unknown.problem);
  const nobody = await money.refund(tenant, { account_id: newId('account') });
  expect(nobody.problem).toEqual(unknown.problem);
  expect([await money.refundsOf(other), faults.callsOf('createRefund')]).toEqual([[], []]);
});

test('409: a payment that has not succeeded cannot be refunded', async () => {
  const tenant = await money.newTenant();
  await money.pay(await money.checkout(tenant, 'tokens_1000'), 'declined');
  await money.settle();
  const [payment] = await money.paymentsOf(tenant);
  const detail = `body.payment_id: payment ${payment?.id} is failed.`;
  expect((await money.refund(tenant)).problem).toMatchObject({ status: 409, detail });
});

test('409: a key that was used for a different refund', async () => {
  const tenant = await money.newBuyer();
  const asked = { idempotency_key: 'k', amount_cents: 100, reason: 'duplicate' } as const;
  await money.refund(tenant, asked);
  const detail = 'body.idempotency_key: was used for another refund, of 100 cents.';
  for (const over of [{ amount_cents: 200 }, { reason: 'fraudulent' } as const])
    expect((await money.refund(tenant, { ...asked, ...over })).problem).toMatchObject({ status: 409, detail });
  expect((await money.refundsOf(tenant)).length).toBe(1);
});

test('422: more than the refundable amount, or any amount when nothing is refundable', async () => {
  const tenant = await money.newBuyer();
  const refused = (left: number) => {
    return { status: 422, kind: 'unprocessable', detail: expect.stringContaining(`${left} cents can be given back.`) };
  };
  expect((await money.refund(tenant, { amount_cents: 901 })).problem).toMatchObject(refused(900));
  await money.refund(tenant, { amount_cents: 500 });
  expect((await money.refund(tenant, { amount_cents: 401 })).problem).toMatchObject(refused(400));
  await money.refund(tenant);
  expect((await money.refund(tenant)).problem).toMatchObject(refused(0));
  expect((await money.refund(tenant, { amount_cents: 1 })).problem).toMatchObject(refused(0));
});

test('422: a refund that the provider refuses has failed, is published once, and the payment can be refunded later', async () => {
  const tenant = await money.newBuyer();
  faults.fail('createRefund', 'refused');
  const asked = { idempotency_key: 'k' };
  const { problem } = await money.refund(tenant, asked);
  const detail = 'body.payment_id: the payment provider refuses the refund: The provider says refused.';
  expect(problem).toMatchObject({ status: 422, kind: 'unprocessable', detail });
  const [refund] = await money.refundsOf(tenant);
  expect(refund).toMatchObject({ status: 'failed', amount_cents: 900 });
  expect(await money.paymentsOf(tenant)).toMatchObject([{ status: 'succeeded' }]);
  expect((await money.entriesOf(tenant)).length).toBe(1);
  const events = (await money.events(tenant, 2)).filter(({ type }) => type.startsWith('refund.'));
  const hold_id = money.account.holds.get(refund?.id ?? '')?.id;
  expect(events).toMatchObject([{ type: 'refund.failed', data: { refund_id: refund?.id, hold_id, reversed: false } }]);
  faults.mend();
  expect((await money.refund(tenant, asked)).body).toEqual(refund);
  expect((await money.refund(tenant)).body).toMatchObject({ status: 'succeeded', amount_cents: 900 });
});

test('422: a refusal of many concurrent requests is published once', async () => {
  const tenant = await money.newBuyer();
  const everybody = Promise.withResolvers<void>();
  let waiting = 0;
  faults.before('createRefund', async () => {
    if (++waiting === 5) everybody.resolve();
    await everybody.promise;
    throw new ProviderError('refused', 'No.');
  });
  const asked = { idempotency_key: 'k' };
  const answers = await Promise.all(Array.from({ length: 5 }, () => money.refund(tenant, asked)));
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(422));
  const events = (await money.events(tenant, 2)).filter(({ type }) => type === 'refund.failed');
  expect(events.length).toBe(1);
});
