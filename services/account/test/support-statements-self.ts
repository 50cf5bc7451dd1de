import {
  changePassword,
  closeAccount,
  disableMfa,
  endSession,
  getAccount,
  listAccounts,
  listAuditLog,
  listSessions,
  recordRefusals,
  renewRecoveryCodes,
  setUpMfa,
  switchAccount,
  transferOwnership,
  updateAccount,
  updateMe,
  verifyMfaSetup,
} from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { internalToken, type StatementTable, type TestService } from '@attribution/testing';
import { addMembership, claimsIn, enter, join, password } from './support.ts';
import { refusedEntry } from './support-audit.ts';
import { addMember } from './support-members.ts';
import { answer, beginSetup, challengeOf, joinWithMfa, nextCode } from './support-mfa.ts';

/** The statements that the endpoints of a user's own account, sessions and MFA send. */
export function selfStatements(service: () => TestService): StatementTable {
  async function joinedWithSessions(sessions: number) {
    const person = await join(service());
    for (let n = 1; n < sessions; n++) {
      await service().db.query(
        `INSERT INTO sessions (id, user_id, account_id, ip, created_at, last_used_at) VALUES ($1, $2, $3, '', $4, $4)`,
        [newUuid(), person.userId, person.accountId, service().clock.now()],
      );
    }
    return person;
  }

  async function joinedWithAccounts(accounts: number) {
    const person = await join(service());
    let latest = person.accountId;
    for (let n = 1; n < accounts; n++) latest = await addMembership(service(), person.userId);
    return { ...person, latest };
  }

  return {
    update_me: {
      statements: 5,
      async prepare() {
        const { client } = await join(service());
        return () => client.call(updateMe, { body: { full_name: 'Ada King' } });
      },
    },
    change_password: {
      statements: 11,
      async prepare(rows) {
        const { client } = await joinedWithSessions(rows);
        const body = { current_password: password, new_password: 'eight loud trumpets' };
        return () => client.call(changePassword, { body });
      },
    },
    list_sessions: {
      statements: 1,
      async prepare(rows) {
        const { client } = await joinedWithSessions(rows);
        return () => client.call(listSessions);
      },
    },
    end_session: {
      statements: 5,
      async prepare() {
        const { client, email } = await join(service());
        const { access_token } = await enter(service(), email);
        const id = `rt_${claimsIn(service(), access_token).sid}`;
        return () => client.call(endSession, { params: { id } });
      },
    },
    list_accounts: {
      statements: 2,
      async prepare(rows) {
        const { client } = await joinedWithAccounts(rows);
        return () => client.call(listAccounts);
      },
    },
    switch_account: {
      statements: 8,
      async prepare(rows) {
        const { client, latest } = await joinedWithAccounts(rows);
        return () => client.call(switchAccount, { body: { account_id: latest } });
      },
    },
    get_account: {
      statements: 1,
      async prepare() {
        const { client, accountId } = await join(service());
        return () => client.call(getAccount, { params: { id: accountId } });
      },
    },
    update_account: {
      statements: 8,
      async prepare() {
        const { client, accountId } = await join(service());
        return () => client.call(updateAccount, { params: { id: accountId }, body: { name: 'King & Co.' } });
      },
    },
    close_account: {
      statements: 10,
      async prepare(rows) {
        const { client, accountId } = await joinedWithSessions(rows);
        return () => client.call(closeAccount, { params: { id: accountId } });
      },
    },
    transfer_ownership: {
      statements: 22,
      async prepare(rows) {
        const owner = await joinedWithSessions(rows);
        const { userId } = await addMember(service(), owner);
        const params = { id: owner.accountId };
        return () => owner.client.call(transferOwnership, { params, body: { user_id: userId } });
      },
    },
    list_audit_log: {
      statements: 1,
      async prepare(rows) {
        const { client } = await join(service()); // A sign-up and a sign-in.
        for (let n = 2; n < rows; n++) await client.call(updateMe, { body: { full_name: `Ada ${n}` } });
        return () => client.call(listAuditLog);
      },
    },
    record_refusals: {
      statements: 1,
      async prepare(rows) {
        const client = service().client.with({ token: internalToken('gateway', 'account') });
        const account_id = newId('account');
        const entries = Array.from({ length: rows }, () => refusedEntry(account_id));
        return () => client.call(recordRefusals, { body: { entries } });
      },
    },
    set_up_mfa: {
      statements: 5,
      async prepare() {
        const { client } = await join(service());
        return () => client.call(setUpMfa);
      },
    },
    verify_mfa_setup: {
      statements: 15,
      async prepare(rows) {
        const { client } = await joinedWithSessions(rows);
        const code = nextCode(service(), await beginSetup(client));
        return () => client.call(verifyMfaSetup, { body: { code } });
      },
    },
    verify_mfa_challenge: {
      statements: 20,
      async prepare() {
        const { email, secret } = await joinWithMfa(service());
        const challenge = await challengeOf(service(), email);
        const code = nextCode(service(), secret);
        return () => answer(service(), challenge, code);
      },
    },
    renew_recovery_codes: {
      statements: 18,
      async prepare() {
        const { client, secret } = await joinWithMfa(service());
        const code = nextCode(service(), secret);
        return () => client.call(renewRecoveryCodes, { body: { code } });
      },
    },
    disable_mfa: {
      statements: 21,
      async prepare(rows) {
        const { client, secret, userId } = await joinWithMfa(service());
        for (let n = 1; n < rows; n++) await addMembership(service(), userId);
        const code = nextCode(service(), secret);
        return () => client.call(disableMfa, { body: { code } });
      },
    },
  };
}
