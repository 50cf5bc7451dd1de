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

/** The job's turn comes every two seconds. */
const finished = (tenant: Tenant) =>
  eventually(async () => {
    const [refund] = await money.refundsOf(tenant);
    expect(refund?.status).not.toBe('pending');
    return refund;
  });
const keys = () => faults.callsOf('createRefund').map(([, key]) => key);
const events = async (tenant: Tenant) =>
  (await money.events(tenant, 2)).filter(({ type }) => type.startsWith('refund.')).map(({ type }) => type);

test('502: the provider does not respond: the tokens stay held, and a job completes the refund under the same key', async () => {
  const tenant = await money.newBuyer();
  faults.fail('createRefund');
  const { status, headers } = await money.refund(tenant);
  expect([status, headers.get('retry-after')]).toEqual([502, '1']);
  const [refund] = await money.refundsOf(tenant);
  expect([refund?.status, money.account.holds.get(refund?.id ?? '')?.amount]).toEqual(['pending', 1_000]);
  faults.before('createRefund', async () => {});
  money.clock.advance({ seconds: 31 });
  expect(await finished(tenant)).toEqual({ ...refund, status: 'succeeded' });
  expect(new Set(keys())).toEqual(new Set([refund?.id]));
  expect(await events(tenant)).toEqual(['refund.succeeded']);
});

test('502: the response was lost: the refund is made once, and its notification confirms it', async () => {
  const tenant = await money.newBuyer();
  faults.loseAnswer('createRefund');
  expect((await money.refund(tenant)).status).toBe(502);
  faults.mend();
  await money.settle();
  expect(await money.refundsOf(tenant)).toMatchObject([{ status: 'succeeded' }]);
  expect((await money.entriesOf(tenant)).map(({ amount_cents }) => amount_cents)).toEqual([-900, 900]);
  expect(await events(tenant)).toEqual(['refund.succeeded']);
});

test('201: a caller who repeats the request need not wait for the job; the refund is made once', async () => {
  const tenant = await money.newBuyer();
  const asked = { idempotency_key: 'k' };
  faults.loseAnswer('createRefund');
  expect((await money.refund(tenant, asked)).status).toBe(502);
  faults.mend();
  expect((await money.refund(tenant, asked)).body).toMatchObject({ status: 'succeeded' });
  await money.settle();
  expect((await money.entriesOf(tenant)).length).toBe(2);
  expect(await events(tenant)).toEqual(['refund.succeeded']);
});

test('502: while tokens cannot be held the provider is not called; a job continues later', async () => {
  const tenant = await money.newBuyer();
  money.account.refuse({ status: 503, kind: 'unavailable', detail: 'Not now.' });
  const { problem } = await money.refund(tenant);
  const detail = 'The tokens could not be held for now. Try again.';
  expect(problem).toMatchObject({ status: 502, kind: 'upstream-error', detail });
  expect([await money.refundsOf(tenant), keys()]).toMatchObject([[{ status: 'pending' }], []]);
  money.account.refuse(undefined);
  money.clock.advance({ seconds: 31 });
  const refund = await finished(tenant);
  expect([refund?.status, money.account.holds.get(refund?.id ?? '')?.amount]).toEqual(['succeeded', 1_000]);
});

test('a refund that a crash left without a hold is deleted if the tokens are spent meanwhile', async () => {
  const tenant = await money.newBuyer();
  money.account.refuse({ status: 503, kind: 'unavailable', detail: 'Not now.' });
  await money.refund(tenant);
  money.account.refuse({ status: 402, kind: 'insufficient-balance', detail: 'Too few.' });
  money.clock.advance({ seconds: 31 });
  await eventually(async () => expect(await money.refundsOf(tenant)).toEqual([]));
  expect(keys()).toEqual([]);
});

test('a refund that the provider finally refuses has failed once, and is published', async () => {
  const tenant = await money.newBuyer();
  faults.fail('createRefund');
  await money.refund(tenant);
  faults.fail('createRefund', 'refused');
  money.clock.advance({ seconds: 31 });
  expect(await finished(tenant)).toMatchObject({ status: 'failed' });
  expect(await events(tenant)).toEqual(['refund.failed']);
});
