import { login } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHasher } from '../src/passwords/index.ts';
import {
  addMembership,
  count,
  enter,
  fullName,
  join,
  logIn,
  newEmail,
  password,
  postRaw,
  rows,
  signUp,
  startAccountService,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const close = (accountId: string) =>
  service.db.query("UPDATE accounts SET status = 'closed' WHERE id = $1", [accountId]);

test('200: a session with the user and the account', async () => {
  const { email, userId, accountId, session } = await join(service);
  const { status, body } = await logIn(service, email);
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.stringMatching(/^rt_/),
    user: { ...session.user, id: userId, email, full_name: fullName, email_verified: true, mfa_enabled: false },
    account: { ...session.account, id: accountId, status: 'active' },
  });
});

test('200: the address may be written in any letter case, and unknown fields are ignored', async () => {
  const { email } = await join(service);
  const body = { email: ` ${email.toUpperCase()}`, password, remember: true };
  expect((await service.client.call(login, { body })).status).toBe(200);
});

test('200: each login opens its own session, which records where it was opened', async () => {
  const { email, userId } = await join(service);
  const client = service.client.with({ headers: { 'x-forwarded-for': '198.51.100.7', 'user-agent': 'Mosaic/0.9' } });
  await client.call(login, { body: { email, password } });
  await enter(service, email);
  expect(await count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', userId)).toBe(3);
  expect(await rows(service, "SELECT user_agent FROM sessions WHERE ip = '198.51.100.7'")).toEqual([
    { user_agent: 'Mosaic/0.9' },
  ]);
});

test('20 right logins at once: all succeed', async () => {
  const { email, userId } = await join(service);
  const answers = await Promise.all(Array.from({ length: 20 }, () => logIn(service, email)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(21);
});

test.each([
  ['body.email: is required.', { password }],
  ['body.password: is required.', { email: 'ada@example.com' }],
  ['body.email: must be text.', { email: {}, password }],
  ['body.password: must be text.', { email: 'ada@example.com', password: true }],
  ['body.email: must be an email address, not "ada".', { email: 'ada', password }],
  ['must not be empty', { email: 'ada@example.com', password: '' }],
])('400: %s', async (detail, body) => {
  const { status, problem } = await service.client.call(login, { body: body as never });
  expect([status, problem?.kind]).toEqual([400, 'validation-error']);
  expect(problem?.detail).toContain(detail);
});

test('401: an unknown address and a wrong password get responses that are identical byte for byte', async () => {
  const { email } = await join(service);
  const unknown = await postRaw(service, '/v2/auth/login', { email: newEmail(), password });
  const wrongPassword = await postRaw(service, '/v2/auth/login', { email, password: 'not the password' });
  expect(unknown.status).toBe(401);
  expect(unknown.headers).toContainEqual(['www-authenticate', 'Bearer']);
  expect(JSON.parse(unknown.text).detail).toBe('The address or the password is wrong.');
  expect(wrongPassword).toEqual(unknown);
});

test('401: a wrong password reveals nothing about the user: unverified, disabled, without an open account, with MFA', async () => {
  const unverified = await signUp(service);
  const [disabled, closed, mfa] = await Promise.all([join(service), join(service), join(service)]);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);
  await service.db.query('UPDATE users SET mfa_enabled_at = now() WHERE id = $1', [mfa.userId]);
  await close(closed.accountId);
  const unknown = await postRaw(service, '/v2/auth/login', { email: newEmail(), password });
  for (const { email } of [unverified, disabled, closed, mfa]) {
    expect(await postRaw(service, '/v2/auth/login', { email, password: 'not the password' })).toEqual(unknown);
  }
});

test('401: a password that breaks the rules for new ones is wrong, not invalid', async () => {
  const { email } = await join(service);
  expect((await logIn(service, email, 'x')).problem?.kind).toBe('unauthorized');
  expect((await logIn(service, email, 'x'.repeat(1024))).problem?.kind).toBe('unauthorized');
});

test('403: an address that is not verified', async () => {
  const { email } = await signUp(service);
  const { status, problem } = await logIn(service, email);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    403,
    'forbidden',
    'The e-mail address is not verified yet.',
  ]);
});

test('403: a disabled user', async () => {
  const { email, userId } = await join(service);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
  const { status, problem } = await logIn(service, email);
  expect([status, problem?.kind, problem?.detail]).toEqual([403, 'forbidden', 'This user is disabled.']);
});

test('403: names the closed account when there is no open one', async () => {
  const { email, userId, accountId } = await join(service);
  await close(accountId);
  await addMembership(service, userId, { accountStatus: 'closed' });
  const { status, problem } = await logIn(service, email);
  expect([status, problem?.kind]).toEqual([403, 'forbidden']);
  expect(problem?.detail).toContain('The account is closed');
});

test('403: opens no session', async () => {
  const { email, userId, accountId } = await join(service);
  await close(accountId);
  await logIn(service, email);
  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(1);
});

describe('after the pepper changed', () => {
  const oldPepper = 'the pepper of last year is as long as the others';
  const parties = ['a test'];
  let rotated: TestService;
  beforeAll(async () => {
    rotated = await startAccountService({ OLD_PASSWORD_PEPPERS: oldPepper });
  });
  afterAll(() => rotated.stop());

  const hashOf = async (email: string) =>
    (await rows<{ password_hash: string }>(rotated, 'SELECT password_hash FROM users WHERE email = $1', email))[0]
      ?.password_hash;

  /** A user whose hash is of the old pepper, and without a mark if it is from before marks. */
  async function ofOldPepper({ marked }: { marked: boolean }) {
    const { email } = await join(rotated);
    const hash = await createHasher({ pepper: oldPepper, cost: 4 }).hashPassword(password, parties);
    const stored = marked ? hash : hash.slice(hash.indexOf('$'));
    await rotated.db.query('UPDATE users SET password_hash = $2 WHERE email = $1', [email, stored]);
    return { email, stored };
  }

  test.each([{ marked: true }, { marked: false }])(
    '200: a hash of the old pepper is verified once more and then renewed (%j)',
    async (form) => {
      const { email, stored } = await ofOldPepper(form);
      expect((await logIn(rotated, email, 'a wrong password')).status).toBe(401);
      expect(await hashOf(email)).toBe(stored);
      expect((await logIn(rotated, email)).status).toBe(200);
      const renewed = await hashOf(email);
      expect(renewed).not.toBe(stored);
      expect((await logIn(rotated, email)).status).toBe(200);
      expect(await hashOf(email)).toBe(renewed);
    },
  );

  test('200: of sign-ins at once, all of which would renew the hash, none is refused', async () => {
    const { email } = await ofOldPepper({ marked: true });
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(rotated, email)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  test('401: a hash of a pepper that was taken away matches nothing', async () => {
    const { email } = await ofOldPepper({ marked: true });
    const gone = await createHasher({ pepper: 'a pepper that nobody kept, long as the others', cost: 4 }).hashPassword(
      password,
      parties,
    );
    await rotated.db.query('UPDATE users SET password_hash = $2 WHERE email = $1', [email, gone]);
    expect((await logIn(rotated, email)).status).toBe(401);
  });
});
