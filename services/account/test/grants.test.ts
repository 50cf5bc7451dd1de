import { newId } from '@attribution/ids';
import { createTestDatabase, type TestDatabase } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { postGrant } from '../src/ledger/index.ts';
import { type AccountDatabase, openAccountDatabase } from '../src/store.ts';
import { atOnce } from './support.ts';

let own: TestDatabase;
let database: AccountDatabase;
let accountId: string;

beforeAll(async () => {
  own = await createTestDatabase('account');
  database = openAccountDatabase({ url: own.url, poolSize: 20 });
});
beforeEach(async () => {
  accountId = newId('account');
  await database.pool.query("INSERT INTO accounts VALUES ($1, 'Ada', 'network', 'active', false, now(), now())", [
    accountId,
  ]);
  await database.pool.query('INSERT INTO balances (account_id) VALUES ($1)', [accountId]);
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

const grant = (amount: number, idempotencyKey: string) =>
  database.transaction((tx) =>
    postGrant(tx, {
      accountId,
      kind: 'grant',
      amount,
      idempotencyKey,
      description: 'Test',
      priority: 10,
      expiresAt: null,
      now: new Date(),
    }),
  );

async function rowsOf(table: string, order: string): Promise<Record<string, unknown>[]> {
  const { rows } = await database.pool.query(`SELECT * FROM ${table} WHERE account_id = $1 ORDER BY ${order}`, [
    accountId,
  ]);
  return rows;
}

test('20 grants at once: each is posted, numbered without gaps, and the balance is their sum at every step', async () => {
  await atOnce((i) => grant(i + 1, `grant ${i}`));
  const entries = await rowsOf('ledger_entries', 'seq');
  let sum = 0;
  for (const [at, { seq, amount, balance_after }] of entries.entries()) {
    sum += Number(amount);
    expect([Number(seq), Number(balance_after)]).toEqual([at + 1, sum]);
  }
  expect(entries).toHaveLength(20);
  expect(await rowsOf('balances', 'account_id')).toEqual([
    { account_id: accountId, posted: '210', held: '0', unspent: '210', last_seq: '20' },
  ]);
  const grants = await rowsOf('token_grants', 'entry_id');
  expect(grants.reduce((total, { remaining }) => total + Number(remaining), 0)).toBe(210);
});

test('20 grants with one key at once: one is posted', async () => {
  await atOnce(() => grant(5, 'the same'));
  expect(await rowsOf('ledger_entries', 'seq')).toHaveLength(1);
  expect(await rowsOf('token_grants', 'entry_id')).toHaveLength(1);
  expect(await rowsOf('balances', 'account_id')).toMatchObject([{ posted: '5', last_seq: '1' }]);
});

test('a grant whose transaction fails afterwards leaves nothing, and its number is reused', async () => {
  await expect(
    database.transaction(async (tx) => {
      await postGrant(tx, {
        accountId,
        kind: 'grant',
        amount: 7,
        idempotencyKey: 'lost',
        description: 'Test',
        priority: 10,
        expiresAt: null,
        now: new Date(),
      });
      throw new Error('afterwards');
    }),
  ).rejects.toThrow('afterwards');
  expect(await rowsOf('ledger_entries', 'seq')).toEqual([]);
  await grant(3, 'lost');
  expect(await rowsOf('ledger_entries', 'seq')).toMatchObject([{ seq: '1', amount: '3', balance_after: '3' }]);
});

test('422: a grant to an account that does not exist', async () => {
  accountId = newId('account');
  await expect(grant(1, 'x')).rejects.toMatchObject({
    kind: 'unprocessable',
    detail: `body.account_id: there is no account ${accountId}.`,
  });
});
