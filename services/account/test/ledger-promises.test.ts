import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { rows, signUp, startAccountService } from './support.ts';
import { expectPromisesKept } from './support-ledger.ts';

let service: TestService;
let accountId: string;
beforeAll(async () => {
  service = await startAccountService();
});
beforeEach(async () => {
  accountId = (await signUp(service)).accountId;
});
afterAll(() => service.stop());

/** Runs one transaction; `$1` is the account. */
const sql = (text: string, ...values: unknown[]) => service.db.query(text, [accountId, ...values]);

interface Entry {
  readonly seq: number;
  readonly amount: number;
  readonly balanceAfter: number;
}

/** An entry, and in the same transaction the grant of so many tokens that it brought. */
const post = ({ seq, amount, balanceAfter }: Entry, granted?: number, expiry?: string) =>
  sql(
    `WITH entry AS (
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
       VALUES ($2, $1, $3, 'adjustment', $4, $5, 'Test', $2, now()) RETURNING id)
     INSERT INTO token_grants
     SELECT id, $1, $6, $6, 10, $7::timestamptz, now() FROM entry WHERE $6::bigint IS NOT NULL`,
    newId('ledger_entry'),
    seq,
    amount,
    balanceAfter,
    granted ?? null,
    expiry ?? null,
  );

const insertHold = (amount: number, status = 'pending', id = newId('token_hold')) =>
  sql(
    `INSERT INTO token_holds (id, account_id, amount, status, description, idempotency_key, expires_at, created_at, resolved_at)
     VALUES ($2, $1, $3, $4::"HoldStatus", 'Test', $2, now() + interval '1 hour', now(), CASE WHEN $4 <> 'pending' THEN now() END)`,
    id,
    amount,
    status,
  );

const resolve = (status: string, captured = 0) =>
  sql(
    'UPDATE token_holds SET status = $2::"HoldStatus", captured_amount = $3, resolved_at = now() WHERE account_id = $1',
    status,
    captured,
  );

async function balance(): Promise<object | undefined> {
  return (
    await rows(service, 'SELECT posted, held, unspent, last_seq FROM balances WHERE account_id = $1', accountId)
  )[0];
}

const untouched = { posted: '1000', held: '0', unspent: '1000', last_seq: '1' };

test.each([
  'posted = 1001',
  'posted = -1',
  'posted = posted + 1, unspent = unspent + 1',
  'unspent = 1001',
  'held = 1',
  'held = -1',
  'held = 1001',
  'last_seq = 2',
  'posted = posted',
])('a balance is changed only by its rows: SET %s is refused', async (columns) => {
  await expect(sql(`UPDATE balances SET ${columns} WHERE account_id = $1`)).rejects.toThrow(
    'a balance is moved by its ledger entries, grants and holds alone',
  );
  expect(await balance()).toEqual(untouched);
});

test.each(['posted', 'held', 'unspent', 'last_seq'])(
  'a balance begins at zero: one with %s is refused',
  async (column) => {
    const id = newId('account');
    await service.db.query("INSERT INTO accounts VALUES ($1, 'Ada', 'network', 'active', false, now(), now())", [id]);
    await expect(service.db.query(`INSERT INTO balances (account_id, ${column}) VALUES ($1, 1)`, [id])).rejects.toThrow(
      'a balance is moved by',
    );
  },
);

test('an entry and its grant update the balance', async () => {
  await post({ seq: 2, amount: 5, balanceAfter: 1005 }, 5);
  expect(await balance()).toEqual({ posted: '1005', held: '0', unspent: '1005', last_seq: '2' });
  await expectPromisesKept(service, accountId);
});

test.each([
  ['leaves a number out', { seq: 3, amount: 5, balanceAfter: 1005 }],
  ['begins again', { seq: 2, amount: 5, balanceAfter: 5 }],
  ['adds up wrongly', { seq: 2, amount: 5, balanceAfter: 1006 }],
])('an entry that %s is refused', async (_what, entry) => {
  await expect(post(entry, entry.amount)).rejects.toThrow('does not follow from the balance');
  expect(await balance()).toEqual(untouched);
});

test.each([
  ['without a grant', undefined],
  ['with a grant of fewer tokens', 4],
  ['with a grant of more tokens', 6],
])('an entry %s is refused at the commit', async (_what, granted) => {
  await expect(post({ seq: 2, amount: 5, balanceAfter: 1005 }, granted)).rejects.toThrow('tokens posted, and');
  expect(await balance()).toEqual(untouched);
});

test('tokens cannot leave a grant without an entry, nor the account without leaving a grant', async () => {
  const burn = (left: number) => sql('UPDATE token_grants SET remaining = $2 WHERE account_id = $1', left);
  await expect(burn(999)).rejects.toThrow('has 1000 tokens posted, and 999 unspent');
  await expect(post({ seq: 2, amount: -1, balanceAfter: 999 })).rejects.toThrow(
    'has 999 tokens posted, and 1000 unspent',
  );
  expect(await balance()).toEqual(untouched);
});

const changed = (set: string) => [set, 'nothing changes but that less is left'] as const;

test.each([
  ['remaining = 1001', 'token_grants_remaining_check|nothing changes but that less is left'],
  ['remaining = -1', 'token_grants_remaining_check'],
  ...["entry_id = 'led_other'", "account_id = 'acc_other'", 'amount = 2000', 'priority = priority + 1'].map(changed),
  ...['expires_at = now()', "created_at = created_at - interval '1 second'"].map(changed),
])(
  'the rest of a grant never grows or becomes negative, and its other columns do not change: SET %s is refused',
  async (set, why) => {
    await expect(sql(`UPDATE token_grants SET ${set} WHERE account_id = $1`)).rejects.toThrow(new RegExp(why));
  },
);

test('holds can reserve up to the posted amount, and not one token more', async () => {
  await insertHold(400);
  await insertHold(600);
  expect(await balance()).toMatchObject({ posted: '1000', held: '1000' });
  await expect(insertHold(1)).rejects.toThrow('balances_available_check');
  await expect(insertHold(0)).rejects.toThrow('token_holds_amount_check');
  await expectPromisesKept(service, accountId);
});

test('tokens reserved by a hold cannot leave the account', async () => {
  await insertHold(1000);
  await expect(post({ seq: 2, amount: -1, balanceAfter: 999 })).rejects.toThrow('balances_available_check');
});

test.each(['captured', 'voided', 'expired'])(
  'a hold begins pending: one that is %s from the start is refused',
  async (status) => {
    await expect(insertHold(1, status)).rejects.toThrow('begins pending, is resolved once, and is never another');
  },
);

test.each(['captured', 'voided', 'expired'])(
  'a hold is resolved once: one that is %s cannot change',
  async (status) => {
    await insertHold(300);
    await resolve(status);
    expect(await balance()).toEqual(untouched);
    for (const next of ['captured', 'voided', 'expired'])
      await expect(resolve(next)).rejects.toThrow('is resolved once');
    await expect(
      sql(`UPDATE token_holds SET status = 'pending', resolved_at = NULL WHERE account_id = $1`),
    ).rejects.toThrow('is resolved once');
    expect(await balance()).toEqual(untouched);
  },
);

test('the expiry of a grant cannot be changed or removed', async () => {
  await post({ seq: 2, amount: 5, balanceAfter: 1005 }, 5, '2099-01-01T00:00:00Z');
  for (const expiry of ["'2099-01-02T00:00:00Z'", 'NULL'])
    await expect(
      sql(`UPDATE token_grants SET expires_at = ${expiry} WHERE account_id = $1 AND expires_at IS NOT NULL`),
    ).rejects.toThrow('nothing changes but that less is left');
});

test.each([
  "id = 'hld_other'",
  "account_id = 'acc_other'",
  'amount = 1',
  "description = 'Other'",
  "idempotency_key = 'other'",
  "expires_at = expires_at + interval '1 second'",
  "created_at = created_at - interval '1 second'",
])('a hold stays what it is, pending or in being resolved: SET %s is refused', async (set) => {
  await insertHold(300);
  for (const resolution of ['', ", status = 'voided', resolved_at = now()"])
    await expect(sql(`UPDATE token_holds SET ${set}${resolution} WHERE account_id = $1`)).rejects.toThrow(
      'is never another',
    );
  expect(await balance()).toMatchObject({ held: '300' });
});

test('a hold captures at most its own amount, and nothing unless it is captured', async () => {
  await insertHold(300);
  await expect(resolve('captured', 301)).rejects.toThrow('token_holds_captured_check');
  await expect(resolve('voided', 1)).rejects.toThrow('token_holds_status_check');
  await expect(sql("UPDATE token_holds SET status = 'voided' WHERE account_id = $1")).rejects.toThrow(
    'token_holds_status_check',
  );
  expect(await balance()).toMatchObject({ held: '300' });
});

test.each(['token_grants', 'token_holds'])('rows of %s cannot be deleted, one by one or all at once', async (table) => {
  await insertHold(300);
  await expect(sql(`DELETE FROM ${table} WHERE account_id = $1`)).rejects.toThrow('append-only');
  await expect(service.db.query(`TRUNCATE ${table} CASCADE`)).rejects.toThrow('append-only');
  await expectPromisesKept(service, accountId);
});
