import { newId } from '@attribution/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Money, startMoney, type Tenant } from './support-money.ts';

/** What the database itself refuses: these tests use SQL and bypass the service. */
let money: Money;
let tenant: Tenant;
let account: string;
let paymentId: string;
/** A payment without a ledger entry. */
const unbooked = newId('payment');
beforeAll(async () => {
  money = await startMoney();
  tenant = await money.newTenant();
  account = tenant.account;
  await money.buy(tenant, 'tokens_1000');
  await money.refund(tenant, { amount_cents: 100 });
  paymentId = (await money.paymentsOf(tenant))[0]?.id ?? '';
  await money.db.query(
    `INSERT INTO payments (id, account_id, kind, plan_key, amount_cents, total_cents, currency, token_amount, status, provider_payment_id, created_at)
     VALUES ($1, $2, 'token_pack', 'tokens_1000', 500, 500, 'usd', 500, 'pending', 'pi_unbooked', now())`,
    [unbooked, account],
  );
});
afterAll(() => money.stop());

const refused = (sql: string, values: unknown[], why: RegExp) =>
  expect(money.db.query(sql, values)).rejects.toThrow(why);
const sum = () => money.rows('SELECT ledger_cents, last_seq FROM customers WHERE account_id = $1', account);

interface Entry {
  readonly seq?: number;
  readonly kind?: string;
  readonly amount?: number;
  readonly after?: number;
  readonly payment?: string | null;
  readonly refund?: string | null;
}
/** A valid next entry, except for the given columns. */
const post = ({ seq = 3, kind = 'payment', amount = 500, after = 1_300, payment = unbooked, refund = null }: Entry) =>
  money.db.query(
    `INSERT INTO money_entries (id, account_id, seq, kind, amount_cents, balance_after_cents, currency, description, payment_id, refund_id, created_at)
     VALUES ($1, $2, $3, $4::"MoneyEntryKind", $5, $6, 'usd', '', $7, $8, now())`,
    [newId('ledger_entry'), account, seq, kind, amount, after, payment, refund],
  );

test.each([
  'UPDATE money_entries SET amount_cents = amount_cents + 1',
  `UPDATE money_entries SET description = 'Something else'`,
  'UPDATE money_entries SET created_at = now()',
  'DELETE FROM money_entries',
  'DELETE FROM money_entries WHERE seq = 2',
  'TRUNCATE money_entries',
  'TRUNCATE money_entries, customers CASCADE',
])('the ledger is append-only: %s', async (sql) => {
  await refused(sql, [], /append-only/);
});

test.each<[string, Entry]>([
  ['leaves a gap', { seq: 4 }],
  ['comes again under another id', { seq: 2 }],
  ['comes before the first', { seq: 0 }],
  ['does not add up', { after: 1_299 }],
  ['says nothing of what was there before', { after: 500 }],
])('an entry that %s is refused', async (_, entry) => {
  const before = await sum();
  await expect(post(entry)).rejects.toThrow(/does not follow from the ledger|unique constraint/);
  expect(await sum()).toEqual(before);
});

test('an entry for a payment or a refund that does not exist is refused', async () => {
  await expect(post({ payment: newId('payment') })).rejects.toThrow(/money_entries_payment_id_fkey/);
  const refund = { kind: 'refund', amount: -100, after: 700, payment: null, refund: newId('refund') };
  await expect(post(refund)).rejects.toThrow(/money_entries_refund_id_fkey/);
});

test('a payment or a refund with a ledger entry cannot be deleted', async () => {
  await refused('DELETE FROM refunds', [], /money_entries_refund_id_fkey/);
  await refused('DELETE FROM payments WHERE id = $1', [paymentId], /foreign key/);
});

test.each<[string, Entry]>([
  ['a payment of nothing', { amount: 0, after: 800 }],
  ['a payment below nought', { amount: -100, after: 700 }],
  ['a payment without its payment', { payment: null }],
  ['a payment with a refund', { refund: newId('refund') }],
  ['a refund above nought', { kind: 'refund', payment: null, refund: newId('refund') }],
  ['a refund without its refund', { kind: 'refund', amount: -100, after: 700, payment: null }],
  ['a refund with a payment', { kind: 'refund', amount: -100, after: 700, refund: newId('refund') }],
  ['store credit of nothing', { kind: 'credit', amount: 0, after: 800 }],
  ['store credit without its payment', { kind: 'credit', payment: null }],
  ['a lost dispute without its dispute', { kind: 'dispute', amount: -100, after: 700 }],
  ['an adjustment of nothing', { kind: 'adjustment', amount: 0, after: 800, payment: null, refund: newId('refund') }],
  ['an adjustment without its refund', { kind: 'adjustment', payment: null }],
])('%s is no entry', async (_, entry) => {
  await expect(post(entry)).rejects.toThrow(/money_entries_kind_check/);
});

test('a payment is posted once, and so is a refund', async () => {
  await expect(post({ payment: paymentId })).rejects.toThrow(/money_entries_payment_id_kind_key/);
  const [refund] = await money.refundsOf(tenant);
  const again = { kind: 'refund', amount: -100, after: 700, payment: null, refund: refund?.id ?? '' };
  await expect(post(again)).rejects.toThrow(/money_entries_refund_id_kind_key/);
});

test('an entry of an account without a customer is refused', async () => {
  const sql = `INSERT INTO money_entries VALUES ($1, $2, 1, 'payment', 1, 1, 'usd', '', $3, NULL, now())`;
  await refused(sql, [newId('ledger_entry'), newId('account'), newId('payment')], /foreign key|does not follow/);
});

test.each(['ledger_cents = 0', 'ledger_cents = ledger_cents + 1', 'last_seq = 0', 'last_seq = 7, ledger_cents = 7'])(
  'the sum is changed only by entries: SET %s',
  async (set) => {
    const before = await sum();
    await refused(`UPDATE customers SET ${set} WHERE account_id = $1`, [account], /moved by its entries alone/);
    expect(await sum()).toEqual(before);
  },
);

test('a customer begins with a sum of zero, and cannot be deleted once it has entries', async () => {
  const sql = `INSERT INTO customers (account_id, name, currency, created_at, ledger_cents, last_seq) VALUES ($1, '', 'usd', now(), $2, $3)`;
  for (const [cents, seq] of [
    [100, 1],
    [100, 0],
    [0, 1],
  ])
    await refused(sql, [newId('account'), cents, seq], /moved by its entries alone/);
  await refused('DELETE FROM customers WHERE account_id = $1', [account], /foreign key/);
});

test.each([
  `status = 'failed'`,
  `kind = 'subscription'`,
  `plan_key = 'growth'`,
  `currency = 'chf'`,
  `status = 'pending'`,
  'amount_cents = 1000',
  'token_amount = 1',
  `account_id = '${newId('account')}'`,
])('what has succeeded stays so: SET %s', async (set) => {
  await refused(`UPDATE payments SET ${set} WHERE id = $1`, [paymentId], /has succeeded, and stays so/);
});

test.each<[string, RegExp]>([
  ['refunded_cents = -1', /payments_refunded_check/],
  ['refunded_cents = 901', /payments_refunded_check/],
  ['provider_payment_id = NULL, provider_invoice_id = NULL', /payments_provider_check/],
])('a payment is never %s', async (set, why) => {
  await refused(`UPDATE payments SET ${set} WHERE id = $1`, [paymentId], why);
});

test.each(['amount_cents = 0', 'amount_cents = -1', 'token_amount = -1'])('a refund cannot have %s', async (set) => {
  await refused(`UPDATE refunds SET ${set} WHERE account_id = $1`, [account], /refunds_amounts_check/);
});

test('a payment has one row per id at the provider; a refund too, and one per key', async () => {
  const copy = (table: string, over: object) =>
    `INSERT INTO ${table} SELECT r.* FROM ${table} t, jsonb_populate_record(t, '${JSON.stringify(over)}') r WHERE t.account_id = $1`;
  await refused(copy('payments', { id: 'x' }), [account], /payments_provider_payment_id_key/);
  await refused(copy('refunds', { id: 'x', idempotency_key: 'other' }), [account], /refunds_provider_refund_id_key/);
  await refused(
    copy('refunds', { id: 'x', provider_refund_id: 'x' }),
    [account],
    /refunds_payment_id_idempotency_key_key/,
  );
});

test('there is one position up to which notifications were read', async () => {
  await refused('INSERT INTO reconciliations (id, read_until) VALUES (2, now())', [], /reconciliations_one/);
});

test('a valid entry is accepted, and updates the sum', async () => {
  expect(await sum()).toEqual([{ ledger_cents: '800', last_seq: 2 }]);
  await post({});
  expect(await sum()).toEqual([{ ledger_cents: '1300', last_seq: 3 }]);
});

test.each(['amount_cents = 1', 'token_amount = 1', `currency = 'chf'`, `interval = 'year'`, `plan_key = 'other'`])(
  'a price for sale cannot be changed: SET %s',
  async (set) => {
    await refused(`UPDATE plan_prices SET ${set} WHERE plan_key = 'growth'`, [], /stays what it is/);
  },
);
