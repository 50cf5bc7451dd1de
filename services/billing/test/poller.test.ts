import { cancelSubscription, changePlan } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createFaults } from './support-faults.ts';
import { type Money, startMoney, type Tenant } from './support-money.ts';

const faults = createFaults();
let notified: Money;
let polling: Money;
beforeAll(async () => {
  notified = await startMoney();
  const environment = { PAYMENT_POLL_MS: '100' };
  polling = await startMoney({ webhooks: false, environment, between: faults.between });
});
afterAll(async () => {
  await notified.stop();
  await polling.stop();
});

/** The stored rows of an account, without values that differ by nature. */
async function kept({ rows, published }: Money, { account }: Tenant) {
  const of = (columns: string, table: string, order: string) =>
    rows(`SELECT ${columns} FROM ${table} WHERE account_id = $1 ORDER BY ${order}`, account);
  return {
    checkouts: await of('mode, plan_key, status', 'checkouts', 'id'),
    payments: await of(
      'kind, plan_key, amount_cents, refunded_cents, token_amount, status, receipt_url IS NOT NULL AS receipt',
      'payments',
      'kind, amount_cents, status',
    ),
    subscriptions: await of('plan_key, status, cancel_at_period_end', 'subscriptions', 'created_at'),
    refunds: await of('amount_cents, token_amount, status, reason', 'refunds', 'id'),
    sum: await of('ledger_cents, last_seq', 'customers', 'account_id'),
    entries: await of('kind, amount_cents, description', 'money_entries', 'kind, amount_cents'),
    events: published
      .filter(({ account_id }) => account_id === account)
      .map(({ type }) => type)
      .sort(),
  };
}

/** A bit of everything; `settle` lets it take effect. */
async function journey(money: Money, settle: (done: () => Promise<void>) => Promise<void>) {
  const tenant = await money.newTenant();
  const owned = async (table: string, count: number) =>
    expect((await money.rows(`SELECT 1 FROM ${table} WHERE account_id = $1`, tenant.account)).length).toBe(count);
  await money.checkout(tenant, 'tokens_10000');
  const page = await money.checkout(tenant, 'tokens_1000');
  await money.pay(page, 'declined');
  await money.pay(page);
  await money.pay(await money.checkout(tenant, 'growth'));
  await settle(async () => {
    await owned('payments', 2);
    await owned('subscriptions', 1);
  });
  await tenant.owner.call(changePlan, { body: { plan_key: 'starter' } });
  const [pack] = await money.rows(
    'SELECT * FROM payments WHERE account_id = $1 AND kind = $2',
    tenant.account,
    'token_pack',
  );
  const refund = { paymentId: String(pack?.provider_payment_id), amountCents: 300, reason: 'duplicate' } as const;
  await money.provider.createRefund({ ...refund, reference: 'by hand' }, tenant.account);
  await settle(() => owned('refunds', 1));
  money.clock.advance({ days: 32 });
  await settle(() => owned('payments', 3));
  await tenant.owner.call(cancelSubscription);
  money.clock.advance({ days: 32 });
  await settle(async () => {
    const [subscription] = await money.rows('SELECT status FROM subscriptions WHERE account_id = $1', tenant.account);
    expect(subscription?.status).toBe('canceled');
  });
  return tenant;
}

test('without any notification, the poller finds everything, with the same rows and events', async () => {
  const one = await journey(notified, () => notified.settle());
  const other = await journey(polling, async (done) => {
    await polling.tick();
    await eventually(done);
  });
  const right = await kept(notified, one);
  expect(right).toMatchObject({
    subscriptions: [{ plan_key: 'starter', status: 'canceled' }],
    checkouts: [{ status: 'expired' }, { status: 'complete' }, { status: 'complete' }],
    sum: [{ last_seq: 4 }],
  });
  await eventually(async () => {
    // Only a reader who looks in between sees that a payment failed before it succeeded.
    // Of several changes of a subscription between two polls, the last is seen.
    const isMerged = (type: string, at: number, types: readonly string[]) =>
      type === 'subscription.updated' && types[at - 1] === type;
    const seen = (types: readonly string[]) =>
      types.filter((type, at) => type !== 'payment.failed' && !isMerged(type, at, types));
    const found = await kept(polling, other);
    expect({ ...found, events: seen(found.events) }).toEqual({ ...right, events: seen(right.events) });
  });
});

test('an object that could not be fetched when it was found is fetched later', async () => {
  const tenant = await polling.newTenant();
  faults.fail('getPayment');
  await polling.pay(await polling.checkout(tenant, 'tokens_1000'));
  await polling.tick();
  await eventually(async () => {
    const due = await polling.rows('SELECT 1 FROM provider_events WHERE attempts > 0 AND due_at IS NOT NULL');
    expect(due.length).toBeGreaterThan(0);
  });
  faults.mend();
  polling.clock.advance({ minutes: 11 });
  await eventually(async () => expect((await polling.paymentsOf(tenant)).length).toBe(1));
});

test('what was read is read again for ten minutes, and has one effect', async () => {
  const tenant = await polling.newTenant();
  await polling.pay(await polling.checkout(tenant, 'tokens_1000'));
  await polling.tick();
  await eventually(async () => expect((await polling.entriesOf(tenant)).length).toBe(1));
  const count = async () => (await polling.rows('SELECT 1 FROM provider_events')).length;
  const before = await count();
  const readUntil = async () => {
    const [row] = await polling.rows('SELECT read_until::text AS at FROM reconciliations');
    return Date.parse(String(row?.at));
  };
  const read = await readUntil();
  await eventually(async () => expect(await readUntil()).toBeGreaterThan(read + 500));
  expect([await count(), (await polling.entriesOf(tenant)).length]).toEqual([before, 1]);
});
