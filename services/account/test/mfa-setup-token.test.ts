import { getMe, setUpMfa, verifyMfaSetup } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  atOnce,
  claimsIn,
  count,
  join,
  logIn,
  type Person,
  refresh,
  requireSession,
  startAccountService,
  statusesOf,
} from './support.ts';
import { answer, challengeOf, joinWithMfa, nextCode, requireMfa, setupTokenOf } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const begin = (setup_token: string) => service.client.call(setUpMfa, { body: { setup_token } });
const prove = (body: { setup_token: string; code: string }) => service.client.call(verifyMfaSetup, { body });

/** A user whose account requires MFA, and the setup_token of a login. */
async function mustSetUp(): Promise<Person & { setupToken: string }> {
  const person = await join(service);
  await requireMfa(person);
  return { ...person, setupToken: await setupTokenOf(service, person.email) };
}

test('an account that requires MFA: the login requires setting it up, and every later login requires a code', async () => {
  const { setupToken, email, userId, accountId } = await mustSetUp();
  const { body } = await begin(setupToken);
  const proven = await prove({ setup_token: setupToken, code: nextCode(service, body.secret) });
  expect(proven.status).toBe(200);
  expect(Object.keys(proven.body).sort()).toEqual([
    'access_token',
    'account',
    'recovery_codes',
    'refresh_token',
    'user',
  ]);
  const session = requireSession(proven.body);
  expect(session.user).toMatchObject({ id: userId, mfa_enabled: true });
  expect(session.account).toMatchObject({ id: accountId, require_mfa: true });
  expect(claimsIn(service, session.access_token)).toMatchObject({ sub: userId, account: accountId, role: 'owner' });
  expect((await refresh(service, session.refresh_token)).status).toBe(200);

  const challenge = await challengeOf(service, email);
  expect((await answer(service, challenge, nextCode(service, body.secret))).status).toBe(200);
});

test('no session exists until MFA is confirmed', async () => {
  const { setupToken, userId } = await mustSetUp();
  const open = () => count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', userId);
  const before = await open();
  const { body } = await begin(setupToken);
  expect(await open()).toBe(before);
  await prove({ setup_token: setupToken, code: nextCode(service, body.secret) });
  // Those from before have not passed MFA.
  expect(await open()).toBe(1);
});

test('200: the setup_token determines the user, even if a session token is sent too', async () => {
  const { setupToken, userId } = await mustSetUp();
  const other = await join(service);
  const { body } = await other.client.call(setUpMfa, { body: { setup_token: setupToken } });
  await other.client.call(verifyMfaSetup, {
    body: { setup_token: setupToken, code: nextCode(service, body.secret) },
  });
  expect(await count(service, 'users', 'id = $1 AND mfa_enabled_at IS NOT NULL', userId)).toBe(1);
  expect((await other.client.call(getMe)).body.mfa_enabled).toBe(false);
});

test('20 confirmations with one setup_token at once: one session is opened', async () => {
  const { setupToken, userId } = await mustSetUp();
  const { body } = await begin(setupToken);
  const code = nextCode(service, body.secret);
  const answers = await atOnce(() => prove({ setup_token: setupToken, code }));
  expect(statusesOf(answers)).toEqual({ 200: 1, 409: 19 });
  expect(await count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', userId)).toBe(1);
});

test('409: a setup_token does not open a second session once MFA is on', async () => {
  const { setupToken } = await mustSetUp();
  const { body } = await begin(setupToken);
  await prove({ setup_token: setupToken, code: nextCode(service, body.secret) });
  const again = await prove({ setup_token: setupToken, code: nextCode(service, body.secret) });
  expect(again.problem).toMatchObject({ status: 409, kind: 'conflict' });
});

test('200: a user who must use MFA, whatever the account requires', async () => {
  const { email, userId } = await join(service);
  await service.db.query('UPDATE users SET require_mfa = true WHERE id = $1', [userId]);
  const setup_token = await setupTokenOf(service, email);
  const { body } = await begin(setup_token);
  expect((await prove({ setup_token, code: nextCode(service, body.secret) })).status).toBe(200);
});

test('the session is in the account of the login', async () => {
  const { email, userId } = await join(service);
  await service.db.query('UPDATE users SET require_mfa = true WHERE id = $1', [userId]);
  const setup_token = await setupTokenOf(service, email);
  await addMembership(service, userId, { role: 'member', joinedAt: '2019-01-01T00:00:00Z' });
  const { body } = await begin(setup_token);
  const proven = await prove({ setup_token, code: nextCode(service, body.secret) });
  expect(requireSession(proven.body).account.name).not.toBe('Another');
});

const noToken = 'body.setup_token: is no valid setup token. Log in again.';

test('401: a token that is not a setup_token: text, an access token, the token of a challenge', async () => {
  const { session } = await join(service);
  const { email } = await joinWithMfa(service);
  for (const token of ['abc', session.access_token, await challengeOf(service, email)]) {
    expect((await begin(token)).problem).toMatchObject({ status: 401, kind: 'unauthorized', detail: noToken });
    expect((await prove({ setup_token: token, code: '123456' })).problem).toMatchObject({ detail: noToken });
  }
});

test('401: after 15 minutes', async () => {
  const { setupToken } = await mustSetUp();
  service.clock.advance({ minutes: 15 });
  expect((await begin(setupToken)).problem).toMatchObject({ status: 401, detail: noToken });
});

const changes: [string, string, 'userId' | 'accountId'][] = [
  ['the password was changed', "UPDATE users SET password_hash = 'another' WHERE id = $1", 'userId'],
  ['the membership is disabled', "UPDATE memberships SET status = 'disabled' WHERE user_id = $1", 'userId'],
  ['the membership is gone', 'DELETE FROM memberships WHERE user_id = $1', 'userId'],
  ['the account is closed', "UPDATE accounts SET status = 'closed' WHERE id = $1", 'accountId'],
];

test.each(changes)('401: when %s since the login, and MFA stays off', async (_what, sql, whose) => {
  const { setupToken, ...person } = await mustSetUp();
  const { body } = await begin(setupToken);
  await service.db.query(sql, [person[whose]]);
  const changed = { status: 401, detail: 'What was right at the login has changed. Log in again.' };
  expect((await begin(setupToken)).problem).toMatchObject(changed);
  const proven = await prove({ setup_token: setupToken, code: nextCode(service, body.secret) });
  expect(proven.problem).toMatchObject(changed);
  expect(await count(service, 'users', 'id = $1 AND mfa_enabled_at IS NULL', person.userId)).toBe(1);
});

test('200: when the account no longer requires MFA, a login opens a session again', async () => {
  const person = await join(service);
  await requireMfa(person);
  await requireMfa(person, false);
  expect((await logIn(service, person.email)).body).toHaveProperty('access_token');
});
