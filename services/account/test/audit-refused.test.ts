import { logout, switchAccount, verifyMfaSetup } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addMembership, atOnce, claimsIn, join, logIn, type Person, refresh, startAccountService } from './support.ts';
import { toldOf } from './support-audit.ts';
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
const nobody = { actor_type: 'unknown', actor_id: null };
const by = (id: string) => ({ actor_type: 'person', actor_id: id });
const refused = (action: string, reason: string, more: object = {}) => ({
  action,
  outcome: 'refused',
  details: expect.objectContaining({ reason }),
  ...more,
});

describe('every code that is refused is told of', () => {
  test('a wrong one with the attempts that are left, and those after the last as well', async () => {
    const { email, userId, accountId, secret } = await joinWithMfa(service);
    const challenge = await challengeOf(service, email);
    const told = await toldOf(service, async () => {
      for (let i = 0; i < 8; i++) await answer(service, challenge, wrongCode(service, secret));
    });
    const where = { account_id: accountId, subject_id: userId, ...nobody };
    expect(told).toMatchObject([
      ...Array(5).fill(refused('session.opened', 'wrong_mfa_code', where)),
      ...Array(3).fill(refused('session.opened', 'mfa_challenge_spent', where)),
    ]);
    expect(told.map(({ details }) => details.attempts_left)).toEqual([4, 3, 2, 1, 0, ...Array(3).fill(undefined)]);
  });

  test('one for a challenge that was used', async () => {
    const { email, secret } = await joinWithMfa(service);
    const challenge = await challengeOf(service, email);
    await answer(service, challenge, nextCode(service, secret));
    const told = await toldOf(service, () => answer(service, challenge, nextCode(service, secret)));
    expect(told).toMatchObject([refused('session.opened', 'mfa_challenge_spent')]);
  });

  test('those beyond what a user may try in a while, of a login and of a session', async () => {
    const person = await joinWithMfa(service);
    const { userId, accountId } = person;
    const code = wrongCode(service, person.secret);
    await atOnce(() => turnOff(person.client, code));
    const challenge = await challengeOf(service, person.email);
    const told = await toldOf(service, async () => {
      await answer(service, challenge, code);
      await turnOff(person.client, code);
    });
    const where = { account_id: accountId, subject_id: userId };
    expect(told).toMatchObject([
      refused('session.opened', 'mfa_attempts_exhausted', { ...where, ...nobody }),
      refused('mfa.disabled', 'mfa_attempts_exhausted', { ...where, ...by(userId) }),
    ]);
  });

  test('one of a user without MFA, and of one who was disabled', async () => {
    const [plain, gone] = [await join(service), await joinWithMfa(service)];
    const challenge = await challengeOf(service, gone.email);
    await sql('UPDATE users SET disabled_at = now() WHERE id = $1', gone.userId);
    const told = await toldOf(service, async () => {
      await turnOff(plain.client, '123456');
      await answer(service, challenge, '123456');
    });
    expect(told).toMatchObject([
      refused('mfa.disabled', 'mfa_off', { account_id: plain.accountId }),
      refused('session.opened', 'user_disabled', { account_id: gone.accountId }),
    ]);
  });

  test('20 codes at once for one challenge leave 20 records', async () => {
    const { email, secret } = await joinWithMfa(service);
    const [challenge, code] = [await challengeOf(service, email), wrongCode(service, secret)];
    const told = await toldOf(service, () => atOnce(() => answer(service, challenge, code)));
    const reasons = told.map(({ details }) => details.reason).sort();
    expect(reasons).toEqual([...Array(15).fill('mfa_challenge_spent'), ...Array(5).fill('wrong_mfa_code')]);
  });

  test('a wrong one that should have proven a new authenticator, of a session and of a login', async () => {
    const person = await join(service);
    const { client, userId, accountId } = person;
    await requireMfa(person);
    const secret = await beginSetup(client);
    const setup_token = await setupTokenOf(service, person.email);
    const code = wrongCode(service, secret);
    const told = await toldOf(service, async () => {
      for (const [who, body] of [
        [client, { code }],
        [service.client, { code, setup_token }],
      ] as const)
        expect((await who.call(verifyMfaSetup, { body })).problem?.detail).toContain('body.code: is not the code');
    });
    const record = { account_id: accountId, subject_id: userId, ...by(userId) };
    expect(told).toMatchObject(Array(2).fill(refused('mfa.enabled', 'wrong_mfa_code', record)));
    expect(JSON.stringify(told)).not.toContain(code);
    const right = { code: nextCode(service, secret) };
    expect((await client.call(verifyMfaSetup, { body: right })).status).toBe(200);
  });
});

describe('a right password, while something changes that it was judged by', () => {
  /** Logs in; what is locked from outside lets go of it when the change is made. */
  async function meanwhile({ email }: Person, change: string, id: string) {
    const started: { login?: ReturnType<typeof logIn> } = {};
    const told = await toldOf(service, async () => {
      await holding(service, { sql: change, id }, async () => {
        started.login = logIn(service, email);
        await standing(service, 1);
      });
      await started.login;
    });
    return { told, login: await started.login };
  }

  test('401: the password is another by now', async () => {
    const person = await join(service);
    const { told, login } = await meanwhile(
      person,
      "UPDATE users SET password_hash = 'x' WHERE id = $1",
      person.userId,
    );
    expect(login?.problem).toMatchObject({ status: 401, detail: 'The address or the password is wrong.' });
    const where = { account_id: person.accountId, subject_id: person.userId, ...nobody };
    expect(told).toMatchObject([refused('session.opened', 'password_changed', where)]);
  });

  test('401 before 403: the password is another, and the user is disabled', async () => {
    const person = await join(service);
    const change = "UPDATE users SET password_hash = 'x', disabled_at = now() WHERE id = $1";
    const { told, login } = await meanwhile(person, change, person.userId);
    expect(login?.status).toBe(401);
    expect(told).toMatchObject([refused('session.opened', 'password_changed')]);
  });

  const noAccount = 'The account is closed, and there is no other open account of yours.';
  test.each([
    ['user_disabled', 'UPDATE users SET disabled_at = now() WHERE id = $1', 'userId', 'This user is disabled.'],
    ['no_open_account', "UPDATE accounts SET status = 'closed' WHERE id = $1", 'accountId', noAccount],
    ['no_open_account', "UPDATE memberships SET status = 'disabled' WHERE user_id = $1", 'userId', noAccount],
    ['no_open_account', 'DELETE FROM memberships WHERE user_id = $1', 'userId', noAccount],
  ] as const)('403: %s, by %s', async (reason, change, whose, detail) => {
    const person = await join(service);
    const { told, login } = await meanwhile(person, change, person[whose]);
    expect(login?.problem).toMatchObject({ status: 403, kind: 'forbidden', detail });
    expect(told).toMatchObject([
      refused('session.opened', reason, { subject_id: person.userId, ...by(person.userId) }),
    ]);
  });

  test('200: who is removed from the one account enters the other', async () => {
    const person = await join(service);
    const other = await addMembership(service, person.userId);
    const change = "DELETE FROM memberships WHERE user_id = $1 AND role = 'owner'";
    const { told, login } = await meanwhile(person, change, person.userId);
    expect(login?.status).toBe(200);
    expect(told).toMatchObject([{ action: 'session.opened', outcome: 'done', account_id: other }]);
  });
});

describe('a refresh that is refused is told of, once a token', () => {
  const ofSession = ({ session, accountId }: Person) => ({
    account_id: accountId,
    subject_id: `rt_${claimsIn(service, session.access_token).sid}`,
    ...nobody,
  });

  test.each([
    ['session_ended', 'UPDATE sessions SET ended_at = now() WHERE user_id = $1', 'userId'],
    ['user_disabled', 'UPDATE users SET disabled_at = now() WHERE id = $1', 'userId'],
    ['no_open_account', "UPDATE memberships SET status = 'disabled' WHERE user_id = $1", 'userId'],
    ['no_open_account', "UPDATE accounts SET status = 'closed' WHERE id = $1", 'accountId'],
  ] as const)('%s, by %s', async (reason, change, whose) => {
    const person = await join(service);
    await sql(change, person[whose]);
    const told = await toldOf(service, () => refresh(service, person.session.refresh_token));
    expect(told).toMatchObject([refused('session.refreshed', reason, ofSession(person))]);
    expect(told[0]?.details).toEqual({ reason });
  });

  test('one that has expired', async () => {
    const person = await join(service);
    await service.db.query(
      'UPDATE refresh_tokens SET expires_at = now() WHERE session_id IN (SELECT id FROM sessions WHERE user_id = $1)',
      [person.userId],
    );
    const told = await toldOf(service, () => refresh(service, person.session.refresh_token));
    expect(told).toMatchObject([refused('session.refreshed', 'refresh_token_expired', ofSession(person))]);
  });

  test('one that comes again and again after the end', async () => {
    const person = await join(service);
    await person.client.call(logout);
    const told = await toldOf(service, () => atOnce(() => refresh(service, person.session.refresh_token)));
    expect(told).toMatchObject([refused('session.refreshed', 'session_ended', ofSession(person))]);
  });
});

describe('a refused switch is told of', () => {
  const switchTo = ({ client }: Pick<Person, 'client'>, account_id: string) =>
    client.call(switchAccount, { body: { account_id } });

  test('in the account that was meant, of whoever is in it', async () => {
    const person = await join(service);
    const { userId } = person;
    const closed = await addMembership(service, userId, { accountStatus: 'closed' });
    const disabled = await addMembership(service, userId, { status: 'disabled' });
    const told = await toldOf(service, async () => {
      expect((await switchTo(person, closed)).status).toBe(403);
      expect((await switchTo(person, disabled)).status).toBe(404);
      await sql('UPDATE users SET disabled_at = now() WHERE id = $1', userId);
      expect((await switchTo(person, person.accountId)).status).toBe(401);
    });
    const whose = { ...by(userId), subject_id: userId };
    expect(told).toMatchObject([
      refused('session.opened', 'account_closed', { ...whose, account_id: closed }),
      refused('session.opened', 'membership_disabled', { ...whose, account_id: disabled }),
      refused('session.opened', 'user_disabled', { ...whose, account_id: person.accountId }),
    ]);
  });

  test('in their own account, of who is no member: nobody writes to another’s log', async () => {
    const [person, stranger] = [await join(service), await join(service)];
    const nowhere = newId('account');
    const told = await toldOf(service, async () => {
      for (const id of [stranger.accountId, nowhere]) expect((await switchTo(person, id)).status).toBe(404);
    });
    const record = (account_id: string) => ({
      account_id: person.accountId,
      details: { via: 'switch', reason: 'not_a_member', account_id },
    });
    expect(told).toMatchObject([record(stranger.accountId), record(nowhere)]);
  });

  test('of a session that has ended, whose token still lives', async () => {
    const person = await join(service);
    await person.client.call(logout);
    const away = { client: service.client.with({ token: personToken({ account: person.accountId }) }) };
    const told = await toldOf(service, async () => {
      for (const who of [person, away]) expect((await switchTo(who, person.accountId)).status).toBe(401);
    });
    expect(told).toMatchObject(
      Array(2).fill(refused('session.opened', 'session_ended', { account_id: person.accountId })),
    );
    expect(told[0]).toMatchObject(by(person.userId));
  });
});
