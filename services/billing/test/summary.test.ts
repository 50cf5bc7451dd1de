import { accountCreated, accountPurged } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startBilling } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startBilling();
});
afterAll(() => service.stop());

const read = async (account: string) => {
  const answer = await sendRaw(service, 'GET', '/v2/billing', personToken({ account }));
  expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
  return JSON.parse(answer.text) as object;
};

const nothing = (account: string) => ({
  account_id: account,
  provider_customer_id: null,
  credit_balance_cents: 0,
  currency: 'usd',
  active_subscription: null,
});

/** Inserts the row of a subscription. */
async function subscribe(
  account: string,
  sub: { plan: string; status: string; from: string; end: string | null; cancel?: boolean },
) {
  await service.db.query(
    `INSERT INTO subscriptions (provider_subscription_id, account_id, plan_key, status, cancel_at_period_end, current_period_end, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [`sub_${newId('payment')}`, account, sub.plan, sub.status, sub.cancel ?? false, sub.end, sub.from],
  );
}

async function customersOf(account: string): Promise<object[]> {
  const { rows } = await service.db.query('SELECT name, currency, created_at FROM customers WHERE account_id = $1', [
    account,
  ]);
  return rows;
}

async function deadLetters(): Promise<object[]> {
  return (await service.db.query('SELECT error FROM dead_letters')).rows;
}

test('200: an account without an event yet, and a new one, have an empty summary', async () => {
  const tenant = newTenant(service);
  expect(await read(tenant.account)).toEqual(nothing(tenant.account));
  expect(await customersOf(tenant.account)).toEqual([]);
  await tenant.open();
  expect(await read(tenant.account)).toEqual(nothing(tenant.account));
});

test('200: balance, customer and subscription come from the stored rows; no other account sees them', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  await tenant.open();
  await other.open();
  const set = `UPDATE customers SET provider_customer_id = 'cus_1', credit_balance_cents = -1250, currency = 'chf' WHERE account_id = $1`;
  await service.db.query(set, [tenant.account]);
  const end = '2026-04-01T00:00:00.250Z';
  await subscribe(tenant.account, {
    plan: 'growth',
    status: 'active',
    from: '2026-03-01T00:00:00Z',
    end,
    cancel: true,
  });
  expect(await read(tenant.account)).toEqual({
    account_id: tenant.account,
    provider_customer_id: 'cus_1',
    credit_balance_cents: -1250,
    currency: 'chf',
    active_subscription: {
      plan_key: 'growth',
      status: 'active',
      cancel_at_period_end: true,
      current_period_end: end,
    },
  });
  expect(await read(other.account)).toEqual(nothing(other.account));
});

test('200: the latest of several subscriptions is shown, whatever its status', async () => {
  const tenant = newTenant(service);
  await tenant.open();
  const end = '2026-02-01T00:00:00Z';
  await subscribe(tenant.account, { plan: 'growth', status: 'active', from: '2026-01-02T00:00:00Z', end });
  await subscribe(tenant.account, { plan: 'starter', status: 'canceled', from: '2026-01-03T00:00:00Z', end: null });
  await subscribe(tenant.account, { plan: 'enterprise', status: 'active', from: '2026-01-01T00:00:00Z', end });
  const latest = { plan_key: 'starter', status: 'canceled', cancel_at_period_end: false, current_period_end: null };
  expect(await read(tenant.account)).toMatchObject({ active_subscription: latest });
});

test('account.created makes one customer, however often and concurrently it arrives', async () => {
  const tenant = newTenant(service);
  const envelope = await tenant.open('Acme – Zürich');
  const twenty = Array.from({ length: 20 }, () => service.redeliver(envelope, accountCreated.topic.name));
  await Promise.all(twenty);
  const customer = { name: 'Acme – Zürich', currency: 'usd', created_at: new Date(envelope.occurred_at) };
  expect(await customersOf(tenant.account)).toEqual([customer]);

  // Twenty deliveries of an event that was not handled before.
  const fresh = newTenant(service).account;
  const data = { ...envelope.data, account_id: fresh };
  const first = { ...envelope, event_id: crypto.randomUUID(), account_id: fresh, key: fresh, data };
  await Promise.all(Array.from({ length: 20 }, () => service.redeliver(first, accountCreated.topic.name)));
  expect(await customersOf(fresh)).toEqual([customer]);
  expect(await deadLetters()).toEqual([]);
});

test('account.purged deletes the customer and its subscriptions, of that account only, and can be repeated', async () => {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const created = await tenant.open();
  await other.open();
  for (const { account } of [tenant, other]) {
    await subscribe(account, { plan: 'growth', status: 'active', from: '2026-01-02T00:00:00Z', end: null });
  }
  const purged = await service.deliver(accountPurged, { account_id: tenant.account }, tenant.account);
  await service.redeliver(purged, accountPurged.topic.name);
  await service.redeliver(created, accountCreated.topic.name);
  expect(await customersOf(tenant.account)).toEqual([]);
  expect(await read(tenant.account)).toEqual(nothing(tenant.account));
  const { rows } = await service.db.query('SELECT account_id FROM subscriptions WHERE account_id = ANY($1)', [
    [tenant.account, other.account],
  ]);
  expect(rows).toEqual([{ account_id: other.account }]);
  expect(await read(other.account)).toMatchObject({ active_subscription: { plan_key: 'growth' } });
  expect(await deadLetters()).toEqual([]);
});

test('account.purged of an unknown account has no effect and does not fail', async () => {
  const { account } = newTenant(service);
  await service.deliver(accountPurged, { account_id: account }, account);
  expect(await deadLetters()).toEqual([]);
});

test('503: while the database fails, the response does not reveal the cause', async () => {
  const { account } = newTenant(service);
  await service.db.query('ALTER TABLE customers RENAME TO customers_away');
  const answer = await sendRaw(service, 'GET', '/v2/billing', personToken({ account }));
  await service.db.query('ALTER TABLE customers_away RENAME TO customers');
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
  expect(JSON.parse(answer.text)).toMatchObject({ detail: 'The service could not answer for now. Try again.' });
  expect(await read(account)).toEqual(nothing(account));
});
