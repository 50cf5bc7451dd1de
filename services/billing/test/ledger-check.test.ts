import { createRefund } from '@attribution/contracts';
import { internalToken, tamper } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkLedger } from '../src/ledger/index.ts';
import { type BillingDatabase, openBillingDatabase } from '../src/store.ts';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
let database: BillingDatabase;
beforeAll(async () => {
  money = await startMoney();
  const { rows } = await money.db.query<{ name: string }>('SELECT current_database() AS name');
  const { host, port, user, password } = money.db.options as {
    host: string;
    port: number;
    user: string;
    password: string;
  };
  const url = money.db.options.connectionString ?? `postgresql://${user}:${password}@${host}:${port}/${rows[0]?.name}`;
  database = openBillingDatabase({ url, poolSize: 2 });
});
afterAll(async () => {
  await database.close();
  await money.stop();
});

const check = (recheckAfterMs = 0) => checkLedger({ database, provider: money.provider }, { recheckAfterMs });

async function newBuyer() {
  const tenant = await money.newTenant();
  await money.buy(tenant, 'tokens_1000');
  const { rows } = await money.db.query<{ id: string }>('SELECT id FROM payments WHERE account_id = $1', [
    tenant.account,
  ]);
  return { ...tenant, payment: rows[0]?.id ?? '' };
}

test('a dispute that is open, or lost, agrees; one whose row is gone is reported', async () => {
  const buyer = await money.newTenant();
  await money.buy(buyer, 'tokens_1000', 'disputed');
  expect((await check()).differences).toEqual([]);
  const [payment] = await money.paymentsOf(buyer);
  await fetch(payment?.receipt_url ?? '', { method: 'POST', body: new URLSearchParams({ action: 'lose' }) });
  await money.settle();
  expect((await check()).differences).toEqual([]);
  await tamper(money.db, 'money_entries', 'DELETE FROM money_entries WHERE account_id = $1', [buyer.account]);
  await money.db.query('DELETE FROM disputes WHERE account_id = $1', [buyer.account]);
  expect((await check()).differences.map(({ what }) => what)).toContainEqual(
    `payment ${payment?.id} is disputed at the provider, which is unknown here`,
  );
  await money.db.query('DELETE FROM customers WHERE account_id = $1', [buyer.account]);
});

test('paid, declined, partly refunded and subscription payments agree everywhere', async () => {
  const buyer = await newBuyer();
  await money.buy(buyer, 'tokens_10000', 'declined');
  await money.buy(buyer, 'starter');
  const body = { account_id: buyer.account, payment_id: buyer.payment, idempotency_key: 'r', amount_cents: 300 };
  const inside = money.client.with({ token: internalToken('billing', 'billing') });
  expect((await inside.call(createRefund, { body })).status).toBe(201);
  const credited = { ...body, idempotency_key: 'c', destination: 'store_credit' } as const;
  expect((await inside.call(createRefund, { body: credited })).status).toBe(201);
  await money.settle();
  expect(await check()).toMatchObject({ accounts: 1, payments: 3, differences: [], waiting: 0 });
});

test.each<[string, string, string, RegExp]>([
  [
    'a sum',
    'customers',
    'UPDATE customers SET ledger_cents = 1 WHERE account_id = $1',
    /^the ledger says 1 cents, its entries 900 cents$/,
  ],
  [
    'an entry that is gone',
    'money_entries',
    'DELETE FROM money_entries WHERE account_id = $1',
    /^1 payments, refunds or disputes without their one ledger entry$/,
  ],
  [
    'an amount',
    'payments',
    'UPDATE payments SET amount_cents = 800 WHERE account_id = $1',
    /^payment pay_\S+ is of 800 cents here, 900 cents at the provider$/,
  ],
  [
    'a status',
    'payments',
    `UPDATE payments SET status = 'failed' WHERE account_id = $1`,
    /^payment pay_\S+ is failed here, succeeded at the provider$/,
  ],
  [
    'a payment that nobody has made',
    'payments',
    `UPDATE payments SET provider_payment_id = 'pi_none' WHERE account_id = $1`,
    /^payment pay_\S+ is succeeded here, unknown at the provider$/,
  ],
  [
    'the store credit',
    'customers',
    'UPDATE customers SET credit_balance_cents = 5 WHERE account_id = $1',
    /^the store credit is 5 cents here, 0 cents at the provider$/,
  ],
  [
    'a refund to store credit that nobody has made',
    'refunds',
    `INSERT INTO refunds SELECT 'ref_' || id, account_id, id, 9, 0, 'store_credit', 'duplicate', 'succeeded', NULL, NULL, 'k', now()
     FROM payments WHERE account_id = $1`,
    /^refund ref_pay_\S+ to store credit is of 9 cents here, unknown at the provider$/,
  ],
])('a difference in %s is reported, for that account only', async (_, table, sql, expected) => {
  const [buyer] = [await newBuyer(), await newBuyer()];
  await tamper(money.db, table, sql, [buyer.account]);
  const { differences } = await check();
  expect(differences.map(({ accountId }) => accountId)).toEqual(differences.map(() => buyer.account));
  expect(differences.map(({ what }) => what)).toContainEqual(expect.stringMatching(expected));
  await tamper(money.db, 'money_entries', 'DELETE FROM money_entries WHERE account_id = $1', [buyer.account]);
  await money.db.query('DELETE FROM customers WHERE account_id = $1', [buyer.account]);
});

test('a refund and a payment that only the provider knows are reported', async () => {
  const buyer = await newBuyer();
  const { rows } = await money.db.query<{ id: string; customer: string }>(
    `SELECT p.provider_payment_id AS id, c.provider_customer_id AS customer FROM payments AS p JOIN customers AS c USING (account_id)
     WHERE account_id = $1`,
    [buyer.account],
  );
  const paymentId = rows[0]?.id ?? '';
  await money.provider.createRefund(
    { paymentId, amountCents: 100, reason: 'duplicate', reference: 'ref_elsewhere' },
    'k',
  );
  expect((await check()).differences).toEqual([
    {
      accountId: buyer.account,
      what: `of payment ${buyer.payment} 0 cents are refunded here, 100 cents at the provider`,
    },
  ]);
  await money.settle();
  expect((await check()).differences).toEqual([]);
});

test('a change in progress is compared again, and is not reported once it has arrived', async () => {
  const buyer = await money.newTenant();
  await money.pay(await money.checkout(buyer, 'tokens_1000'));
  const checking = check(2_000);
  await money.settle();
  expect((await checking).differences).toEqual([]);
});

test('notifications that have waited for long are counted', async () => {
  await money.db.query(
    `INSERT INTO provider_events (id, type, object_kind, object_id, created_at, received_at, due_at)
     VALUES ('evt_old', 'x', 'payment', 'pi_1', now(), now() - interval '11 minutes', now() + interval '1 day')`,
  );
  expect(await check()).toMatchObject({ waiting: 1 });
});
