import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { join, startAccountService } from './support.ts';
import { expectPromisesKept, grant, grantOf } from './support-ledger.ts';
import { buy } from './support-purchases.ts';

let service: TestService;
let accountId: string;
let grantId: string;
beforeAll(async () => {
  service = await startAccountService();
});
beforeEach(async () => {
  ({ accountId } = await join(service));
  ({ grantId } = await buy(service, accountId));
});
afterAll(() => service.stop());

/** Runs one transaction that bypasses the service; `$1` is the grant. */
const sql = (text: string, ...values: unknown[]) => service.db.query(text, [grantId, ...values]);

/** Makes holds on the purchase in one statement. */
const insertHolds = (amounts: readonly number[], fields: { account?: string; grant?: string } = {}) =>
  service.db.query(
    `INSERT INTO token_holds (id, account_id, grant_id, amount, description, idempotency_key, expires_at, created_at)
     SELECT 'hld_' || uuidv7(), $1, $2, amount, 'Test', uuidv7(), now() + interval '1 hour', now()
     FROM unnest($3::bigint[]) AS amount`,
    [fields.account ?? accountId, fields.grant ?? grantId, amounts],
  );

const resolve = (status: string, amount: number) =>
  sql(
    `UPDATE token_holds SET status = $2::"HoldStatus", resolved_at = now() WHERE grant_id = $1 AND amount = $3`,
    status,
    amount,
  );
const reserved = async () => (await grantOf(service, grantId))?.reserved;

test.each(['reserved = 1', 'reserved = -1', 'reserved = 500', 'remaining = 400, reserved = 100'])(
  'the reserved tokens of a grant are changed only by its holds: SET %s is refused',
  async (set) => {
    await expect(sql(`UPDATE token_grants SET ${set} WHERE entry_id = $1`)).rejects.toThrow(
      'is moved by the holds of it alone',
    );
    await insertHolds([100]);
    await expect(sql('UPDATE token_grants SET reserved = 0 WHERE entry_id = $1')).rejects.toThrow('by the holds of it');
    expect(await reserved()).toBe(100);
  },
);

test('a grant begins with nothing reserved', async () => {
  await expect(
    sql(
      `WITH entry AS (
         INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
         SELECT $2, account_id, last_seq + 1, 'grant', 5, posted + 5, 'Test', 'test', now() FROM balances
         WHERE account_id = (SELECT account_id FROM token_grants WHERE entry_id = $1)
         RETURNING id, account_id)
       INSERT INTO token_grants (entry_id, account_id, amount, remaining, reserved, priority, created_at)
       SELECT id, account_id, 5, 5, 1, 10, now() FROM entry`,
      newId('ledger_entry'),
    ),
  ).rejects.toThrow('is moved by the holds of it alone');
});

test('holds on a grant reserve up to its rest, and not one token more, in one statement or several', async () => {
  await expect(insertHolds([300, 201])).rejects.toThrow('token_grants_reserved_check');
  await insertHolds([300, 150]);
  expect(await reserved()).toBe(450);
  await expect(insertHolds([51])).rejects.toThrow('token_grants_reserved_check');
  await insertHolds([50]);
  expect(await reserved()).toBe(500);
  await expectPromisesKept(service, accountId);
});

test('a hold releases its reservation on the grant once, however it is resolved', async () => {
  await insertHolds([100, 200, 50]);
  for (const [status, amount, left] of [
    ['voided', 100, 250],
    ['expired', 200, 50],
    ['captured', 50, 0],
  ] as const) {
    await resolve(status, amount);
    expect(await reserved()).toBe(left);
    await expect(resolve('voided', amount)).rejects.toThrow('is resolved once');
  }
  await expectPromisesKept(service, accountId);
});

test('tokens reserved by a hold on their grant cannot leave it', async () => {
  await insertHolds([400]);
  const take = (amount: number) =>
    sql(
      `WITH entry AS (
         INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
         SELECT $2, account_id, last_seq + 1, 'adjustment', -$3::bigint, posted - $3::bigint, 'Test', $2, now() FROM balances
         WHERE account_id = (SELECT account_id FROM token_grants WHERE entry_id = $1))
       UPDATE token_grants SET remaining = remaining - $3::bigint WHERE entry_id = $1`,
      newId('ledger_entry'),
      amount,
    );
  await expect(take(101)).rejects.toThrow('token_grants_reserved_check');
  await take(100);
  await expectPromisesKept(service, accountId);
});

test('a hold belongs to a grant of its own account', async () => {
  const other = await join(service);
  await expect(insertHolds([1], { account: other.accountId })).rejects.toThrow('token_holds_grant_id_account_id_fkey');
  await expect(insertHolds([1], { grant: newId('ledger_entry') })).rejects.toThrow(
    'token_holds_grant_id_account_id_fkey',
  );
});

test('the grant of a hold cannot be changed, nor added later', async () => {
  const other = (await grant(service, accountId)).body.id;
  await insertHolds([100]);
  for (const to of [other, null])
    for (const resolution of ['', ", status = 'voided', resolved_at = now()"])
      await expect(sql(`UPDATE token_holds SET grant_id = $2${resolution} WHERE grant_id = $1`, to)).rejects.toThrow(
        'is never another',
      );
  await service.db.query(
    `INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
     VALUES ($1, $2, 5, 'Test', 'plain', now(), now())`,
    [newId('token_hold'), accountId],
  );
  await expect(sql("UPDATE token_holds SET grant_id = $1 WHERE idempotency_key = 'plain'")).rejects.toThrow(
    'is never another',
  );
  expect(await reserved()).toBe(100);
});

test('settlements cannot be changed, deleted or truncated', async () => {
  const where = 'WHERE account_id = (SELECT account_id FROM token_grants WHERE entry_id = $1)';
  await expect(sql(`UPDATE settlements SET key = 'other' ${where}`)).rejects.toThrow('append-only');
  await expect(sql(`DELETE FROM settlements ${where}`)).rejects.toThrow('append-only');
  await expect(service.db.query('TRUNCATE settlements')).rejects.toThrow('append-only');
});
