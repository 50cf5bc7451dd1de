import { switchAccount, verifyEmail, verifyMfaSetup } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  addMembership,
  atOnce,
  claimsIn,
  enter,
  join,
  logIn,
  newEmail,
  refresh,
  rows,
  signUp,
  startAccountService,
  wrong,
} from './support.ts';
import { auditRecordsOf } from './support-audit.ts';
import { answer, beginSetup, challengeOf, joinWithMfa, nextCode, requireMfa, setupTokenOf } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const sql = (text: string, id: string) => service.db.query(text, [id]);
const actedBy = (id: string) => ({ actor_type: 'person', actor_id: id });
const unknownActor = { actor_type: 'unknown', actor_id: null };
const opened = (person: { userId: string; accountId: string }, via: string) => ({
  ...actedBy(person.userId),
  account_id: person.accountId,
  action: 'session.opened',
  outcome: 'done',
  subject_id: person.userId,
  details: { via, session_id: expect.stringMatching(/^rt_/) },
});
const refused = (reason: string, more: object = {}) => ({
  action: 'session.opened',
  outcome: 'refused',
  details: expect.objectContaining({ reason }),
  ...more,
});

describe('a sign-in is recorded with its method', () => {
  test('by a password', async () => {
    const person = await join(service);
    const session: { token?: string } = {};
    const records = await auditRecordsOf(service, async () => {
      session.token = (await enter(service, person.email)).access_token;
    });
    expect(records).toMatchObject([opened(person, 'password')]);
    expect(records[0]?.details.session_id).toBe(`rt_${claimsIn(service, session.token ?? '').sid}`);
  });

  test('by the code of the first e-mail', async () => {
    const person = await signUp(service);
    const code = await service.mailbox.codeFor(person.email);
    const verify = () => service.client.call(verifyEmail, { body: { email: person.email, code } });
    expect(await auditRecordsOf(service, verify)).toMatchObject([opened(person, 'email_code')]);
  });

  test('by MFA: that a code was requested, and its kind', async () => {
    const person = await joinWithMfa(service);
    const { accountId: account_id, userId } = person;
    for (const [via, code] of [
      ['mfa_code', () => nextCode(service, person.secret)],
      ['recovery_code', () => person.recoveryCodes[0] ?? ''],
    ] as const) {
      const records = await auditRecordsOf(service, async () =>
        answer(service, await challengeOf(service, person.email), code()),
      );
      const challenged = {
        account_id,
        action: 'mfa.challenged',
        outcome: 'done',
        ...actedBy(userId),
        subject_id: userId,
      };
      expect(records).toMatchObject([challenged, opened(person, via)]);
    }
  });

  test('by MFA that had to be set up first', async () => {
    const person = await join(service);
    await requireMfa(person);
    const records = await auditRecordsOf(service, async () => {
      const setup_token = await setupTokenOf(service, person.email);
      const secret = await beginSetup(service.client.with({ token: person.session.access_token }));
      const body = { setup_token, code: nextCode(service, secret) };
      await service.client.call(verifyMfaSetup, { body });
    });
    expect(records).toMatchObject([
      { action: 'mfa.setup_required', ...actedBy(person.userId) },
      { action: 'mfa.enabled', ...actedBy(person.userId), details: { sessions_ended: 1 } },
      opened(person, 'mfa_setup'),
    ]);
  });

  test('by a switch, in the account that was entered', async () => {
    const person = await join(service);
    const accountId = await addMembership(service, person.userId);
    const records = await auditRecordsOf(service, () =>
      person.client.call(switchAccount, { body: { account_id: accountId } }),
    );
    expect(records).toMatchObject([opened({ ...person, accountId }, 'switch')]);
  });

  test('a refresh is not a sign-in', async () => {
    const { session } = await join(service);
    expect(await auditRecordsOf(service, () => refresh(service, session.refresh_token))).toEqual([]);
  });
});

describe('a refused login is recorded in the account that the user would have entered', () => {
  test('a wrong password: with the user as the subject, and an unknown actor', async () => {
    const { email, userId, accountId } = await join(service);
    const away = service.client.with({ headers: { 'x-forwarded-for': '203.0.113.9' } });
    const records = await auditRecordsOf(service, () => logIn({ ...service, client: away }, email, 'not the password'));
    const where = { account_id: accountId, subject_id: userId, ip: '203.0.113.9' };
    expect(records).toMatchObject([refused('wrong_password', { ...where, ...unknownActor })]);
    expect(records[0]?.details).toEqual({ reason: 'wrong_password' });
  });

  test('an unknown address: without account and subject, with a keyed hash of the address instead of the address', async () => {
    const email = newEmail();
    const records = await auditRecordsOf(service, async () => {
      await logIn(service, email);
      await logIn(service, email.toUpperCase());
      await logIn(service, newEmail());
    });
    const [first, again, other] = records.map(({ details }) => details.address_mark);
    expect(records).toMatchObject(
      Array(3).fill(refused('unknown_address', { account_id: null, subject_id: null, ...unknownActor })),
    );
    expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(JSON.stringify(records)).not.toContain(email.split('@')[0]);
  });

  test.each([
    ['user_disabled', 'UPDATE users SET disabled_at = now() WHERE id = $1', 'userId'],
    ['email_not_verified', 'UPDATE users SET email_verified_at = NULL WHERE id = $1', 'userId'],
    ['no_open_account', "UPDATE accounts SET status = 'closed' WHERE id = $1", 'accountId'],
    ['no_open_account', "UPDATE memberships SET status = 'disabled' WHERE account_id = $1", 'accountId'],
  ] as const)('%s, by the password’s owner', async (reason, change, whose) => {
    const person = await join(service);
    await sql(change, person[whose]);
    const records = await auditRecordsOf(service, () => logIn(service, person.email));
    const where = { account_id: person.accountId, subject_id: person.userId };
    expect(records).toMatchObject([refused(reason, { ...where, ...actedBy(person.userId) })]);
  });

  test('for a user in several accounts, in the one that would be entered', async () => {
    const { email, userId, accountId } = await join(service);
    const other = await addMembership(service, userId, { joinedAt: '2019-01-01T00:00:00Z' });
    const one = await auditRecordsOf(service, () => logIn(service, email, 'wrong'));
    expect(one[0]?.account_id).toBe(accountId);
    await sql("UPDATE accounts SET status = 'closed' WHERE id = $1", accountId);
    const two = await auditRecordsOf(service, () => logIn(service, email, 'wrong'));
    expect(two[0]?.account_id).toBe(other);
  });

  test('for a user without an account, in none', async () => {
    const { email, userId } = await join(service);
    await sql('DELETE FROM memberships WHERE user_id = $1', userId);
    const records = await auditRecordsOf(service, () => logIn(service, email));
    expect(records).toMatchObject([refused('no_open_account', { account_id: null, subject_id: userId })]);
  });
});

test('a wrong verification code is recorded', async () => {
  const { email, userId, accountId } = await signUp(service);
  const code = await service.mailbox.codeFor(email);
  const verify = (given: string, address = email) =>
    service.client.call(verifyEmail, { body: { email: address, code: given } });
  const records = await auditRecordsOf(service, async () => {
    for (let i = 0; i < 6; i++) await verify(wrong(code));
    await verify(code, newEmail());
  });
  const meant = { account_id: accountId, subject_id: userId, ...unknownActor };
  expect(records).toMatchObject([
    ...Array(5).fill(refused('wrong_code', meant)),
    refused('dead_code', meant),
    refused('wrong_code', { account_id: null, subject_id: null, ...unknownActor }),
  ]);
  expect(records[6]?.details).toHaveProperty('address_mark');
});

test('a reused refresh token ends its session, which is recorded once; reuse within 10 s is not recorded', async () => {
  const { session, accountId } = await join(service);
  await refresh(service, session.refresh_token);
  expect(await auditRecordsOf(service, () => atOnce(() => refresh(service, session.refresh_token)))).toEqual([]);
  service.clock.advance({ seconds: 11 });
  const records = await auditRecordsOf(service, () => atOnce(() => refresh(service, session.refresh_token)));
  const subject_id = `rt_${claimsIn(service, session.access_token).sid}`;
  expect(records).toMatchObject([
    { account_id: accountId, action: 'session.ended', outcome: 'done', ...unknownActor, subject_id },
  ]);
  expect(records[0]?.details).toEqual({ reason: 'refresh_token_reused' });
});

test('tokens and challenges that are not ours are not recorded', async () => {
  const records = await auditRecordsOf(service, async () => {
    await refresh(service, 'x');
    await answer(service, newUuid(), '123456');
  });
  expect(records).toEqual([]);
});

test('no record contains a password, a code, a token or an address', async () => {
  const { email, secret, recoveryCodes, session } = await joinWithMfa(service);
  const [recovery = ''] = recoveryCodes;
  const code = nextCode(service, secret);
  await answer(service, await challengeOf(service, email), code);
  await answer(service, await challengeOf(service, email), recovery);
  await logIn(service, email, 'not the password at all');
  const text = JSON.stringify(await rows(service, 'SELECT details, subject_id, actor_id FROM audit_log'));
  const secrets = [email, secret, recovery, `"${code}"`, 'not the password', session.refresh_token, 'seven quiet'];
  expect(secrets.filter((one) => text.includes(one))).toEqual([]);
});
