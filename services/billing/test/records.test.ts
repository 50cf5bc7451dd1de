import {
  type Endpoint,
  getPayment,
  getRefund,
  listMoneyEntries,
  listPayments,
  listRefunds,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Money, startMoney, type Tenant } from './support-money.ts';

/** Five payments, entries and refunds of one account, and two of another. */
let money: Money;
let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  money = await startMoney();
  [tenant, other] = [await money.newTenant(), await money.newTenant()];
  for (let i = 0; i < 5; i++) await money.buy(tenant, 'tokens_1000');
  const [payment] = await money.paymentsOf(tenant);
  for (let i = 1; i <= 5; i++) await money.refund(tenant, { payment_id: payment?.id ?? '', amount_cents: i * 10 });
  await money.buy(other, 'tokens_1000');
  await money.refund(other, { amount_cents: 100 });
  await money.settle();
});
afterAll(() => money.stop());

type Lists = typeof listPayments | typeof listRefunds | typeof listMoneyEntries;
interface Listed {
  readonly entries: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}
async function page(of: Lists, query: Record<string, string | number> = {}, who = tenant): Promise<Listed> {
  return (await who.owner.call(of as typeof listPayments, { query })).body;
}
async function walk(of: Lists, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { entries, next_cursor } = await page(of, { limit, ...(cursor !== undefined && { cursor }) });
    pages.push(entries.map(({ id }) => id));
    cursor = next_cursor;
  }
  return pages;
}

const lists: [string, Lists, number, string][] = [
  ['payments', listPayments, 5, 'id'],
  ['refunds', listRefunds, 5, 'id'],
  ['money entries', listMoneyEntries, 10, 'seq'],
];

test.each(lists)('200: %s are listed newest first, in pages without gaps', async (_, of, count, column) => {
  const table = of === listPayments ? 'payments' : of === listRefunds ? 'refunds' : 'money_entries';
  const sql = `SELECT id FROM ${table} WHERE account_id = $1 ORDER BY ${column} DESC`;
  const ids = (await money.rows(sql, tenant.account)).map(({ id }) => id);
  expect(ids.length).toBe(count);
  for (const limit of [1, 2, 3, count - 1, 200]) {
    const pages = await walk(of, limit);
    expect(pages.flat()).toEqual(ids);
    expect(pages.length).toBe(Math.ceil(count / limit));
  }
});

test.each(lists)('200: a last page of %s that is exactly full has no next cursor', async (_, of, count) => {
  expect(await walk(of, count)).toEqual([expect.any(Array)]);
  expect((await page(of, { limit: count - 1 })).next_cursor).toEqual(expect.any(String));
});

test.each(lists)('200: an account without %s has an empty list', async (_, of) => {
  expect(await page(of, {}, await money.newTenant())).toEqual({ entries: [], next_cursor: null });
});

test.each(lists)('200: %s of another account are not listed, not even with its cursor', async (_, of) => {
  const mine = (await page(of, { limit: 200 }, other)).entries;
  expect(mine.length).toBe(of === listMoneyEntries ? 2 : 1);
  const ids = new Set((await walk(of, 200)).flat());
  const { next_cursor: cursor } = await page(of, { limit: 1 });
  const seen = [...mine, ...(await page(of, { cursor: cursor ?? '' }, other)).entries];
  for (const { id } of seen) expect(ids.has(id)).toBe(false);
});

test.each(lists)('200: new %s in front of a page do not make later ones appear twice', async (_, of, count) => {
  const first = await page(of, { limit: 2 });
  const rest = await page(of, { limit: 200, cursor: first.next_cursor ?? '' });
  expect([...first.entries, ...rest.entries].length).toBe(count);
  expect(new Set([...first.entries, ...rest.entries].map(({ id }) => id)).size).toBe(count);
});

test.each(lists)('400: %s with a limit out of range, or a cursor of another list', async (_, of) => {
  const cursors: string[] = [];
  for (const [, other] of lists) {
    const { next_cursor } = await page(other, { limit: 1 });
    if (other !== of) cursors.push(next_cursor ?? '');
  }
  const asked = [
    ...['0', '201', '-1', '1.5', 'ten', ''].map((limit) => ({ limit })),
    ...[...cursors, 'x', 'e30', '%'].map((cursor) => ({ cursor })),
    { cursor: '' },
  ];
  for (const query of asked) {
    const { status, problem } = await tenant.owner.call(of as typeof listPayments, { query });
    expect([query, status, problem?.kind]).toEqual([query, 400, 'validation-error']);
  }
});

test.each([-1, 0, 2_147_483_648, Number.MAX_SAFE_INTEGER])(
  '200: a cursor of entries with %d, which the column cannot hold, gives an ordinary page',
  async (seq) => {
    const { next_cursor } = await page(listMoneyEntries, { limit: 1 });
    const [scope] = JSON.parse(Buffer.from(next_cursor ?? '', 'base64url').toString()) as unknown[];
    const cursor = Buffer.from(JSON.stringify([scope, seq])).toString('base64url');
    expect((await page(listMoneyEntries, { cursor })).entries.length).toBe(seq > 0 ? 10 : 0);
  },
);

test('200: a payment and a refund are the same by id as in their lists', async () => {
  for (const entry of await money.paymentsOf(tenant)) {
    expect((await tenant.owner.call(getPayment, { params: { id: entry.id } })).body).toEqual(entry);
    expect(entry.receipt_url).toMatch(/^http/);
  }
  for (const entry of await money.refundsOf(tenant))
    expect((await tenant.owner.call(getRefund, { params: { id: entry.id } })).body).toEqual(entry);
});

test.each<[string, Endpoint]>([
  ['payment', getPayment],
  ['refund', getRefund],
])('404: a %s of another account, an unknown and a malformed id answer alike', async (kind, of) => {
  const [theirs] = kind === 'payment' ? await money.paymentsOf(other) : await money.refundsOf(other);
  const get = (id: string) => tenant.owner.call(of as typeof getPayment, { params: { id } });
  const unknown = (await get(newId(kind as 'payment' | 'refund'))).problem;
  expect(unknown).toMatchObject({ status: 404, kind: 'not-found' });
  for (const id of [theirs?.id ?? '', newId('campaign'), 'x', "' OR 1=1 --", 'x'.repeat(500)])
    expect((await get(id)).problem).toEqual(unknown);
});
