import { logout, switchAccount, verifyMfaSetup } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addMembership, atOnce, claimsIn, join, logIn, type Person, refresh, startAccountService } from './support.ts';
import { auditRecordsOf } from './support-audit.ts';
import { holding, standing } from './support-locks.ts';
import {
  answer,
  beginSetup,
  challengeOf,
  joinWithMfa,
  nextCode,
  requireMfa,
  setupTokenOf,
  turnOff,
  wrongCode,
} from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const sql = (text: string, id: string) => service.db.query(text, [id]);
const unknownActor = { actor_type: 'unknown', actor_id: null };
const actedBy = (id: string) => ({ actor_type: 'person', actor_id: id });
const refused = (action: string, reason: string, more: object = {}) => ({
  action,
  outcome: 'refused',
  details: expect.objectContaining({ reason }),
  ...more,
});

describe('every refused code is recorded', () => {
  test('a wrong one with the remaining attempts, and those after the last as well', async () => {
    const { email, userId, accountId, secret } = await joinWithMfa(service);
    const challenge = await challengeOf(service, email);
    const records = await auditRecordsOf(service, async () => {
      for (let i = 0; i < 8; i++) await answer(service, challenge, wrongCode(service, secret));
    });
    const where = { account_id: accountId, subject_id: userId, ...unknownActor };
    expect(records).toMatchObject([
      ...Array(5).fill(refused('session.opened', 'wrong_mfa_code', where)),
      ...Array(3).fill(refused('session.opened', 'mfa_challenge_spent', where)),
    ]);
    expect(records.map(({ details }) => details.attempts_left)).toEqual([4, 3, 2, 1, 0, ...Array(3).fill(undefined)]);
  });

  test('one for a challenge that was already used', async () => {
    const { email, secret } = await joinWithMfa(service);
    const challenge = await challengeOf(service, email);
    await answer(service, challenge, nextCode(service, secret));
    const records = await auditRecordsOf(service, () => answer(service, challenge, nextCode(service, secret)));
    expect(records).toMatchObject([refused('session.opened', 'mfa_challenge_spent')]);
  });

  test('those beyond the guesses at an address, at login and in a session', async () => {
    const person = await joinWithMfa(service);
    const { userId, accountId } = person;
    const code = wrongCode(service, person.secret);
    const challenge = await challengeOf(service, person.email);
    await atOnce(() => turnOff(person.client, code));
    const records = await auditRecordsOf(service, async () => {
      await answer(service, challenge, code);
      await turnOff(person.client, code);
    });
    const where = { account_id: accountId, subject_id: userId };
    expect(records).toMatchObject([
      refused('session.opened', 'too_many_guesses', { ...where, ...unknownActor }),
      refused('mfa.disabled', 'too_many_guesses', { ...where, ...actedBy(userId) }),
    ]);
  });

  test('one for a user without MFA, and for a disabled user', async () => {
    const [plain, disabled] = [await join(service), await joinWithMfa(service)];
    const challenge = await challengeOf(service, disabled.email);
    await sql('UPDATE users SET disabled_at = now() WHERE id = $1', disabled.userId);
    const records = await auditRecordsOf(service, async () => {
      await turnOff(plain.client, '123456');
      await answer(service, challenge, '123456');
    });
    expect(records).toMatchObject([
      refused('mfa.disabled', 'mfa_off', { account_id: plain.accountId }),
      refused('session.opened', 'user_disabled', { account_id: disabled.accountId }),
    ]);
  });

  test('20 codes at once for one challenge leave 20 records', async () => {
    const { email, secret } = await joinWithMfa(service);
    const [challenge, code] = [await challengeOf(service, email), wrongCode(service, secret)];
    const records = await auditRecordsOf(service, () => atOnce(() => answer(service, challenge, code)));
    const reasons = records.map(({ details }) => details.reason).sort();
    expect(reasons).toEqual([...Array(15).fill('mfa_challenge_spent'), ...Array(5).fill('wrong_mfa_code')]);
  });

  test('a wrong one that should have confirmed a new authenticator, in a session and at login', async () => {
    const person = await join(service);
    const { client, userId, accountId } = person;
    await requireMfa(person);
    const secret = await beginSetup(client);
    const setup_token = await setupTokenOf(service, person.email);
    const code = wrongCode(service, secret);
    const records = await auditRecordsOf(service, async () => {
      for (const [who, body] of [
        [client, { code }],
        [service.client, { code, setup_token }],
      ] as const)
        expect((await who.call(verifyMfaSetup, { body })).problem?.detail).toContain('body.code: is not the code');
    });
    const record = { account_id: accountId, subject_id: userId, ...actedBy(userId) };
    expect(records).toMatchObject(Array(2).fill(refused('mfa.enabled', 'wrong_mfa_code', record)));
    expect(JSON.stringify(records)).not.toContain(code);
    const right = { code: nextCode(service, secret) };
    expect((await client.call(verifyMfaSetup, { body: right })).status).toBe(200);
  });
});

describe('a right password, while the user changes after it was checked', () => {
  /** Logs in while a lock from outside delays the login until the change is made. */
  async function meanwhile({ email }: Person, change: string, id: string) {
    const started: { login?: ReturnType<typeof logIn> } = {};
    const records = await auditRecordsOf(service, async () => {
      await holding(service, { sql: change, id }, async () => {
        started.login = logIn(service, email);
        await standing(service, 1);
      });
      await started.login;
    });
    return { records, login: await started.login };
  }

  test('401: the password was changed meanwhile', async () => {
    const person = await join(service);
    const { records, login } = await meanwhile(
      person,
      "UPDATE users SET password_hash = 'x' WHERE id = $1",
      person.userId,
    );
    expect(login?.problem).toMatchObject({ status: 401, detail: 'The address or the password is wrong.' });
    const where = { account_id: person.accountId, subject_id: person.userId, ...unknownActor };
    expect(records).toMatchObject([refused('session.opened', 'password_changed', where)]);
  });

  test('401 before 403: the password was changed, and the user is disabled', async () => {
    const person = await join(service);
    const change = "UPDATE users SET password_hash = 'x', disabled_at = now() WHERE id = $1";
    const { records, login } = await meanwhile(person, change, person.userId);
    expect(login?.status).toBe(401);
    expect(records).toMatchObject([refused('session.opened', 'password_changed')]);
  });

  const noAccount = 'The account is closed, and there is no other open account of yours.';
  test.each([
    ['user_disabled', 'UPDATE users SET disabled_at = now() WHERE id = $1', 'userId', 'This user is disabled.'],
    ['no_open_account', "UPDATE accounts SET status = 'closed' WHERE id = $1", 'accountId', noAccount],
    ['no_open_account', "UPDATE memberships SET status = 'disabled' WHERE user_id = $1", 'userId', noAccount],
    ['no_open_account', 'DELETE FROM memberships WHERE user_id = $1', 'userId', noAccount],
  ] as const)('403: %s, by %s', async (reason, change, whose, detail) => {
    const person = await join(service);
    const { records, login } = await meanwhile(person, change, person[whose]);
    expect(login?.problem).toMatchObject({ status: 403, kind: 'forbidden', detail });
    expect(records).toMatchObject([
      refused('session.opened', reason, { subject_id: person.userId, ...actedBy(person.userId) }),
    ]);
  });

  test('200: a user who is removed from one account enters the other', async () => {
    const person = await join(service);
    const other = await addMembership(service, person.userId);
    const change = "DELETE FROM memberships WHERE user_id = $1 AND role = 'owner'";
    const { records, login } = await meanwhile(person, change, person.userId);
    expect(login?.status).toBe(200);
    expect(records).toMatchObject([{ action: 'session.opened', outcome: 'done', account_id: other }]);
  });
});

describe('a refused refresh is recorded once per token', () => {
  const ofSession = ({ session, accountId }: Person) => ({
    account_id: accountId,
    subject_id: `rt_${claimsIn(service, session.access_token).sid}`,
    ...unknownActor,
  });

  test.each([
    ['session_ended', 'UPDATE sessions SET ended_at = now() WHERE user_id = $1', 'userId'],
    ['user_disabled', 'UPDATE users SET disabled_at = now() WHERE id = $1', 'userId'],
    ['no_open_account', "UPDATE memberships SET status = 'disabled' WHERE user_id = $1", 'userId'],
    ['no_open_account', "UPDATE accounts SET status = 'closed' WHERE id = $1", 'accountId'],
  ] as const)('%s, by %s', async (reason, change, whose) => {
    const person = await join(service);
    await sql(change, person[whose]);
    const records = await auditRecordsOf(service, () => refresh(service, person.session.refresh_token));
    expect(records).toMatchObject([refused('session.refreshed', reason, ofSession(person))]);
    expect(records[0]?.details).toEqual({ reason });
  });

  test('one that has expired', async () => {
    const person = await join(service);
    await service.db.query(
      'UPDATE refresh_tokens SET expires_at = now() WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $1)',
      [person.userId],
    );
    const records = await auditRecordsOf(service, () => refresh(service, person.session.refresh_token));
    expect(records).toMatchObject([refused('session.refreshed', 'refresh_token_expired', ofSession(person))]);
  });

  test('one that is repeated after the session ended', async () => {
    const person = await join(service);
    await person.client.call(logout);
    const records = await auditRecordsOf(service, () => atOnce(() => refresh(service, person.session.refresh_token)));
    expect(records).toMatchObject([refused('session.refreshed', 'session_ended', ofSession(person))]);
  });
});

describe('a refused switch is recorded', () => {
  const switchTo = ({ client }: Pick<Person, 'client'>, account_id: string) =>
    client.call(switchAccount, { body: { account_id } });

  test('in the requested account, if the user is in it', async () => {
    const person = await join(service);
    const { userId } = person;
    const closed = await addMembership(service, userId, { accountStatus: 'closed' });
    const disabled = await addMembership(service, userId, { status: 'disabled' });
    const records = await auditRecordsOf(service, async () => {
      expect((await switchTo(person, closed)).status).toBe(403);
      expect((await switchTo(person, disabled)).status).toBe(404);
      await sql('UPDATE users SET disabled_at = now() WHERE id = $1', userId);
      expect((await switchTo(person, person.accountId)).status).toBe(401);
    });
    const whose = { ...actedBy(userId), subject_id: userId };
    expect(records).toMatchObject([
      refused('session.opened', 'account_closed', { ...whose, account_id: closed }),
      refused('session.opened', 'membership_disabled', { ...whose, account_id: disabled }),
      refused('session.opened', 'user_disabled', { ...whose, account_id: person.accountId }),
    ]);
  });

  test('in the user’s own account, if the user is not a member: nobody writes to another account’s log', async () => {
    const [person, stranger] = [await join(service), await join(service)];
    const nowhere = newId('account');
    const records = await auditRecordsOf(service, async () => {
      for (const id of [stranger.accountId, nowhere]) expect((await switchTo(person, id)).status).toBe(404);
    });
    const record = (account_id: string) => ({
      account_id: person.accountId,
      details: { via: 'switch', reason: 'not_a_member', account_id },
    });
    expect(records).toMatchObject([record(stranger.accountId), record(nowhere)]);
  });

  test('for a session that has ended while its token is still valid', async () => {
    const person = await join(service);
    await person.client.call(logout);
    const away = { client: service.client.with({ token: personToken({ account: person.accountId }) }) };
    const records = await auditRecordsOf(service, async () => {
      for (const who of [person, away]) expect((await switchTo(who, person.accountId)).status).toBe(401);
    });
    expect(records).toMatchObject(
      Array(2).fill(refused('session.opened', 'session_ended', { account_id: person.accountId })),
    );
    expect(records[0]).toMatchObject(actedBy(person.userId));
  });
});
