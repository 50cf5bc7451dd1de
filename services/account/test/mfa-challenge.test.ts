import { getMe, resetPassword, verifyMfaChallenge } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { addMembership, claimsIn, count, join, refresh, resetCode, rows, startAccountService } from './support.ts';
import {
  answer,
  challengeOf,
  codeAt,
  joinWithMfa,
  nextCode,
  nextStep,
  setupTokenOf,
  wrongCode,
} from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const spent = {
  status: 401,
  kind: 'unauthorized',
  detail: 'The challenge is unknown, expired, used or has no attempts left. Log in again.',
};
const wrong = { status: 400, kind: 'validation-error', detail: 'body.code: is wrong, or was used before.' };

test('200: the right code opens a session in the account that the login chose', async () => {
  const { email, secret, userId, accountId, session } = await joinWithMfa(service);
  const challenge = await challengeOf(service, email);
  const { status, body } = await answer(service, challenge, nextCode(service, secret));
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.stringMatching(/^rt_/),
    user: { ...session.user, mfa_enabled: true },
    account: session.account,
  });
  expect(claimsIn(service, body.access_token)).toMatchObject({ sub: userId, account: accountId });
  expect((await refresh(service, body.refresh_token)).status).toBe(200);
});

test('200: a code of the previous or the next time step', async () => {
  const { email, secret } = await joinWithMfa(service);
  nextStep(service);
  const now = nextStep(service);
  for (const steps of [-1, 1]) {
    const code = codeAt(secret, now, steps);
    expect((await answer(service, await challengeOf(service, email), code)).status).toBe(200);
  }
});

test('400: a code two steps early or late', async () => {
  const { email, secret } = await joinWithMfa(service);
  for (let i = 0; i < 3; i++) nextStep(service);
  const now = service.clock.now();
  for (const steps of [-2, 2]) {
    const { problem } = await answer(service, await challengeOf(service, email), codeAt(secret, now, steps));
    expect(problem).toMatchObject(wrong);
  }
});

test('400: a code that was accepted before, and any code of an earlier step', async () => {
  const { email, secret } = await joinWithMfa(service);
  nextStep(service);
  const now = nextStep(service);
  expect((await answer(service, await challengeOf(service, email), codeAt(secret, now))).status).toBe(200);
  const challenge = await challengeOf(service, email);
  expect((await answer(service, challenge, codeAt(secret, now))).problem).toMatchObject(wrong);
  expect((await answer(service, challenge, codeAt(secret, now, -1))).problem).toMatchObject(wrong);
  expect((await answer(service, challenge, codeAt(secret, now, 1))).status).toBe(200);
});

test('400: a wrong code opens no session, and the right one is accepted afterwards', async () => {
  const { email, secret, userId } = await joinWithMfa(service);
  const challenge = await challengeOf(service, email);
  const before = await count(service, 'sessions', 'user_id = $1', userId);
  expect((await answer(service, challenge, wrongCode(service, secret))).problem).toMatchObject(wrong);
  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(before);
  expect((await answer(service, challenge, nextCode(service, secret))).status).toBe(200);
});

test('400: another user’s code', async () => {
  const [ada, bob] = [await joinWithMfa(service), await joinWithMfa(service)];
  const code = nextCode(service, bob.secret);
  const shared = codeAt(ada.secret, service.clock.now()) === code;
  expect((await answer(service, await challengeOf(service, ada.email), code)).status).toBe(shared ? 200 : 400);
});

test.each([
  ['body.challenge_token: is required.', { code: '123456' }],
  ['body.code: is required.', { challenge_token: 'abc' }],
  ['body.code: must be a code of the authenticator or a recovery code.', { challenge_token: 'abc', code: '12345' }],
  ['body.code: must have at most 32 characters.', { challenge_token: 'abc', code: '1'.repeat(33) }],
])('400: %s', async (detail, body) => {
  const { problem } = await service.client.call(verifyMfaChallenge, { body: body as never });
  expect(problem).toMatchObject({ status: 400, kind: 'validation-error', detail });
});

test('401: a challenge that was already used, even with a fresh code, which is not spent', async () => {
  const { email, secret } = await joinWithMfa(service);
  const challenge = await challengeOf(service, email);
  await answer(service, challenge, nextCode(service, secret));
  const fresh = nextCode(service, secret);
  expect((await answer(service, challenge, fresh)).problem).toMatchObject(spent);
  expect((await answer(service, await challengeOf(service, email), fresh)).status).toBe(200);
});

test('401: after five minutes', async () => {
  const { email, secret } = await joinWithMfa(service);
  const challenge = await challengeOf(service, email);
  service.clock.advance({ minutes: 5 });
  expect((await answer(service, challenge, nextCode(service, secret))).problem).toMatchObject(spent);
});

test('401: a token that is not a challenge: text, an access token, a setup_token', async () => {
  const { session, email, userId } = await join(service);
  await service.db.query('UPDATE users SET require_mfa = true WHERE id = $1', [userId]);
  for (const token of ['abc', session.access_token, await setupTokenOf(service, email)])
    expect((await answer(service, token, '123456')).problem).toMatchObject(spent);
});

test('401: the token of a challenge is accepted by no other endpoint', async () => {
  const { email } = await joinWithMfa(service);
  const token = await challengeOf(service, email);
  expect((await service.client.with({ token }).call(getMe)).problem?.kind).toBe('unauthorized');
});

const changes: [string, string, 'userId' | 'accountId', object][] = [
  ['the user is disabled', 'UPDATE users SET disabled_at = now() WHERE id = $1', 'userId', spent],
  ['MFA was turned off', 'UPDATE users SET mfa_enabled_at = NULL WHERE id = $1', 'userId', spent],
  ['the membership is disabled', "UPDATE memberships SET status = 'disabled' WHERE user_id = $1", 'userId', {}],
  ['the membership is gone', 'DELETE FROM memberships WHERE user_id = $1', 'userId', {}],
  ['the account is closed', "UPDATE accounts SET status = 'closed' WHERE id = $1", 'accountId', {}],
];

test.each(changes)('401: when %s since the login', async (_what, sql, whose, refusal) => {
  const person = await joinWithMfa(service);
  const challenge = await challengeOf(service, person.email);
  await service.db.query(sql, [person[whose]]);
  const { problem } = await answer(service, challenge, nextCode(service, person.secret));
  expect(problem).toMatchObject({ status: 401, kind: 'unauthorized', ...refusal });
});

test('reset-password does not bypass MFA: an earlier challenge becomes invalid, and the new password leads to another', async () => {
  const { email, secret, userId } = await joinWithMfa(service);
  const old = await challengeOf(service, email);
  const code = await resetCode(service, email);
  await service.client.call(resetPassword, { body: { email, code, new_password: 'eight loud trumpets' } });
  const { problem } = await answer(service, old, nextCode(service, secret));
  expect(problem).toMatchObject({ status: 401, detail: 'What was right at the login has changed. Log in again.' });
  expect(await count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', userId)).toBe(0);
  const challenge = await challengeOf(service, email, 'eight loud trumpets');
  expect((await answer(service, challenge, nextCode(service, secret))).status).toBe(200);
});

test('200: a user in several accounts enters the one of the login', async () => {
  const person = await joinWithMfa(service);
  await addMembership(service, person.userId, { role: 'admin', joinedAt: '2019-01-01T00:00:00Z' });
  const challenge = await challengeOf(service, person.email);
  const { body } = await answer(service, challenge, nextCode(service, person.secret));
  expect(body.account.id).toBe(person.accountId);
});

test('a challenge stores the number of its attempts, and nothing of the codes', async () => {
  const { email, secret, userId } = await joinWithMfa(service);
  const challenge = await challengeOf(service, email);
  await answer(service, challenge, wrongCode(service, secret));
  await answer(service, challenge, nextCode(service, secret));
  const kept = await rows<object>(service, 'SELECT * FROM mfa_challenges WHERE user_id = $1', userId);
  expect(kept).toEqual([
    { id: expect.any(String), user_id: userId, attempts: 2, used_at: expect.any(Date), expires_at: expect.any(Date) },
  ]);
});
