import {
  forgotPassword,
  getBalance,
  getMe,
  getMyPermissions,
  listAccountTypes,
  listLedger,
  listPlans,
  login,
  logout,
  refreshSession,
  resendVerification,
  resetPassword,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import {
  countRecords,
  countStatements,
  numbersOf,
  oneRecordEach,
  type StatementTable,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fullName, join, newEmail, password, resetCode, signUp, startAccountService } from './support.ts';
import { keyStatements } from './support-statements-keys.ts';
import { ledgerStatements, peopleStatements } from './support-statements-people.ts';
import { selfStatements } from './support-statements-self.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
  await service.db.query('UPDATE plans SET max_users = 10000');
});
afterAll(() => service.stop());

const table: StatementTable = {
  signup: {
    statements: 18,
    prepare: async () => () =>
      service.client.call(signup, { body: { email: newEmail(), password, full_name: fullName } }),
  },
  verify_email: {
    statements: 17,
    async prepare() {
      const { email } = await signUp(service);
      const code = await service.mailbox.codeFor(email);
      return () => service.client.call(verifyEmail, { body: { email, code } });
    },
  },
  resend_verification: {
    statements: 7,
    async prepare() {
      const { email } = await signUp(service);
      return () => service.client.call(resendVerification, { body: { email } });
    },
  },
  login: {
    statements: 14,
    async prepare(rows) {
      const { email } = await joinedWithGrants(rows);
      return () => service.client.call(login, { body: { email, password } });
    },
  },
  refresh_session: {
    statements: 7,
    async prepare(rows) {
      const { session } = await joinedWithGrants(rows);
      return () => service.client.call(refreshSession, { body: { refresh_token: session.refresh_token } });
    },
  },
  logout: {
    statements: 4,
    async prepare() {
      const { client } = await join(service);
      return () => client.call(logout);
    },
  },
  forgot_password: {
    statements: 7,
    async prepare() {
      const { email } = await join(service);
      return () => service.client.call(forgotPassword, { body: { email } });
    },
  },
  reset_password: {
    statements: 14,
    async prepare() {
      const { email } = await join(service);
      const body = { email, code: await resetCode(service, email), new_password: 'eight loud trumpets' };
      return () => service.client.call(resetPassword, { body });
    },
  },
  get_me: {
    statements: 1,
    async prepare() {
      const { client } = await join(service);
      return () => client.call(getMe);
    },
  },
  get_my_permissions: {
    statements: 1,
    async prepare(rows) {
      const { client } = await joinedWithGrants(rows);
      return () => client.call(getMyPermissions);
    },
  },
  list_plans: {
    statements: 1,
    async prepare() {
      const { client } = await join(service);
      return () => client.call(listPlans);
    },
  },
  list_account_types: {
    statements: 1,
    async prepare() {
      const { client } = await join(service);
      return () => client.call(listAccountTypes);
    },
  },
  list_ledger: {
    statements: 1,
    async prepare(rows) {
      const { client, accountId } = await joinedWithEntries(rows);
      return () => client.call(listLedger, { params: { id: accountId } });
    },
  },
  get_balance: {
    statements: 1,
    async prepare(rows) {
      const { client, accountId } = await joinedWithEntries(rows);
      return () => client.call(getBalance, { params: { id: accountId } });
    },
  },
  ...keyStatements(() => service),
  ...selfStatements(() => service),
  ...peopleStatements(() => service),
  ...ledgerStatements(() => service),
};

/** A user who holds this many groups. */
async function joinedWithGrants(groups: number) {
  const person = await join(service);
  const ids = Array.from({ length: groups }, () => newId('group'));
  await service.db.query(`INSERT INTO group_grants SELECT $1, $2, id, 'm' FROM unnest($3::text[]) AS id`, [
    person.userId,
    person.accountId,
    ids,
  ]);
  await service.db.query(`UPDATE memberships SET role = 'member', group_scope = 'selected' WHERE user_id = $1`, [
    person.userId,
  ]);
  return person;
}

/** A user with this many ledger entries, including the free grant, each with tokens left. */
async function joinedWithEntries(entries: number) {
  const person = await join(service);
  await service.db.query(
    `WITH entry AS (
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
       SELECT 'led_' || uuidv7(), $1, n, 'grant', 1, 999 + n, 'Grant', 'test ' || n, now()
       FROM generate_series(2, $2::int) AS n RETURNING id)
     INSERT INTO token_grants SELECT id, $1, 1, 1, 10, NULL, now() FROM entry`,
    [person.accountId, entries],
  );
  return person;
}

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'account', table, rows)).toEqual(numbersOf(table));
});

test('each endpoint that writes leaves one audit record of a success', async () => {
  const done = async () => {
    const { rows } = await service.db.query("SELECT count(*)::int AS count FROM audit_log WHERE outcome = 'done'");
    return (rows[0] as { count: number }).count;
  };
  expect(await countRecords(service, 'account', table, done)).toEqual(oneRecordEach('account'));
});
