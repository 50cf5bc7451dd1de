import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { count, join, type SignedUp, signUp, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const sql = (text: string, ...values: unknown[]) => service.db.query(text, values);

test('the ledger is append-only: the database refuses to change and to delete an entry', async () => {
  const { accountId } = await join(service);
  const refused = 'the token ledger is append-only';
  await expect(sql('UPDATE ledger_entries SET amount = 1 WHERE account_id = $1', accountId)).rejects.toThrow(refused);
  await expect(sql('UPDATE ledger_entries SET description = description')).rejects.toThrow(refused);
  await expect(sql('DELETE FROM ledger_entries WHERE account_id = $1', accountId)).rejects.toThrow(refused);
  await expect(sql('TRUNCATE ledger_entries CASCADE')).rejects.toThrow(refused);
  await expect(sql('TRUNCATE accounts CASCADE')).rejects.toThrow(refused);
  await expect(sql('DELETE FROM balances WHERE account_id = $1', accountId)).rejects.toThrow(refused);
  expect(await count(service, 'ledger_entries', 'account_id = $1 AND amount = 1000', accountId)).toBe(1);
});

test('the ledger of an account is deleted only with the whole account', async () => {
  const { accountId } = await join(service);
  await sql(
    `INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
     VALUES ($1, $2, 100, 'Test', 'test', now() + interval '1 day', now())`,
    newId('token_hold'),
    accountId,
  );
  await sql('DELETE FROM accounts WHERE id = $1', accountId);
  for (const table of ['ledger_entries', 'token_grants', 'token_holds', 'balances']) {
    expect(await count(service, table, 'account_id = $1', accountId)).toBe(0);
  }
});

test('the entries of an account are numbered without duplicates from 1, and posted once per key', async () => {
  const { accountId } = await join(service);
  const insert = (seq: number, key: string, balanceAfter = 1) =>
    sql(
      `INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
       VALUES ($1, $2, $3, 'adjustment', 1, $5, 'Test', $4, now())`,
      newId('ledger_entry'),
      accountId,
      seq,
      key,
      balanceAfter,
    );
  await expect(insert(1, 'other')).rejects.toThrow('ledger_entries_account_id_seq_key');
  await expect(insert(2, 'signup')).rejects.toThrow('ledger_entries_account_id_idempotency_key_key');
  await expect(insert(0, 'other')).rejects.toThrow('ledger_entries_seq_check');
  await expect(insert(2, 'other', -1)).rejects.toThrow('ledger_entries_balance_check');
  await expect(insert(3, 'other', 1001)).rejects.toThrow('does not follow from the balance');
});

test('an account has one owner', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const enter = (role: string) =>
    sql(
      'INSERT INTO memberships (user_id, account_id, role, joined_at) VALUES ($1, $2, $3::"MembershipRole", now())',
      bob.userId,
      ada.accountId,
      role,
    );
  await expect(enter('owner')).rejects.toThrow('memberships_one_owner');
  await enter('admin');
  await expect(sql("UPDATE memberships SET role = 'owner' WHERE user_id = $1", bob.userId)).rejects.toThrow(
    'memberships_one_owner',
  );
});

test('20 owners of one account at once: one is written', async () => {
  const { accountId } = await signUp(service);
  await sql('DELETE FROM memberships WHERE account_id = $1', accountId);
  const people: SignedUp[] = [];
  for (let i = 0; i < 20; i++) people.push(await signUp(service));
  const insert = "INSERT INTO memberships (user_id, account_id, role, joined_at) VALUES ($1, $2, 'owner', now())";
  const outcomes = await Promise.allSettled(people.map(({ userId }) => sql(insert, userId, accountId)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
