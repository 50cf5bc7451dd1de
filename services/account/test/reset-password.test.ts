import { resetPassword } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  count,
  enter,
  join,
  logIn,
  newEmail,
  password,
  refresh,
  resetCode,
  rows,
  signUp,
  startAccountService,
  wrong,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const newPassword = 'eight loud trumpets';
const reset = (body: object) => service.client.call(resetPassword, { body: body as never });

test('204: sets the new password; the old one is refused', async () => {
  const { email } = await join(service);
  const code = await resetCode(service, email);
  const { status, body } = await reset({ email: email.toUpperCase(), code, new_password: newPassword, ignored: 1 });
  expect([status, body]).toEqual([204, undefined]);
  expect((await logIn(service, email, newPassword)).status).toBe(200);
  expect((await logIn(service, email, password)).problem?.kind).toBe('unauthorized');
});

test('204: ends all sessions of the user, and of no other', async () => {
  const ada = await join(service);
  const bob = await join(service);
  const other = await enter(service, ada.email);
  const code = await resetCode(service, ada.email);
  await reset({ email: ada.email, code, new_password: newPassword });

  expect((await refresh(service, ada.session.refresh_token)).status).toBe(401);
  expect((await refresh(service, other.refresh_token)).status).toBe(401);
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(200);
  expect(await rows(service, 'SELECT DISTINCT end_reason FROM sessions WHERE user_id = $1', ada.userId)).toEqual([
    { end_reason: 'password_reset' },
  ]);
});

test('204: opens no session', async () => {
  const { email, userId } = await join(service);
  const code = await resetCode(service, email);
  const before = await count(service, 'sessions', 'user_id = $1', userId);
  await reset({ email, code, new_password: newPassword });
  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(before);
});

test('204: does not verify the address: the login is still refused', async () => {
  const { email } = await signUp(service);
  await service.mailbox.codeFor(email);
  const code = await resetCode(service, email);
  expect((await reset({ email, code, new_password: newPassword })).status).toBe(204);
  const { status, problem } = await logIn(service, email, newPassword);
  expect([status, problem?.kind]).toEqual([403, 'forbidden']);
  expect(problem?.detail).toContain('not verified');
});

test('204: does not bypass MFA: the next login requires it', async () => {
  const { email, userId } = await join(service);
  await service.db.query('UPDATE users SET mfa_enabled_at = now() WHERE id = $1', [userId]);
  const code = await resetCode(service, email);
  await reset({ email, code, new_password: newPassword });
  expect((await logIn(service, email, newPassword)).body).toMatchObject({ mfa_challenge: true });
});

test('400: a refused password neither counts as an attempt nor spends the code', async () => {
  const { email } = await join(service);
  const code = await resetCode(service, email);
  for (let i = 0; i < 6; i++) {
    const { problem } = await reset({ email, code: i % 2 ? code : wrong(code), new_password: 'short' });
    expect(problem?.detail).toBe('body.new_password: must have at least 8 characters.');
  }
  expect(
    await rows(service, "SELECT attempts FROM email_codes WHERE email_key = $1 AND purpose = 'reset_password'", email),
  ).toEqual([{ attempts: 0 }]);
  expect((await reset({ email, code, new_password: newPassword })).status).toBe(204);
});

test('400: a wrong code changes nothing', async () => {
  const { email, session } = await join(service);
  const code = await resetCode(service, email);
  const { problem } = await reset({ email, code: wrong(code), new_password: newPassword });
  expect(problem).toMatchObject({
    kind: 'validation-error',
    detail: 'body.code: is not the code of the latest e-mail.',
  });
  await enter(service, email, password);
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
});

test.each([
  ['body.email: is required.', { code: '123456', new_password: newPassword }],
  ['body.code: is required.', { email: 'ada@example.com', new_password: newPassword }],
  ['body.new_password: is required.', { email: 'ada@example.com', code: '123456' }],
  ['body.new_password: must be text.', { email: 'ada@example.com', code: '123456', new_password: 12345678 }],
  [
    'body.code: must be the 6 digits of the e-mail.',
    { email: 'ada@example.com', code: '12 456', new_password: newPassword },
  ],
])('400: %s', async (detail, body) => {
  const { status, problem } = await reset(body);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});

test('410: a code that was already used', async () => {
  const { email } = await join(service);
  const code = await resetCode(service, email);
  await reset({ email, code, new_password: newPassword });
  const { status, problem } = await reset({ email, code, new_password: 'nine slow rivers' });
  expect([status, problem?.kind]).toEqual([410, 'gone']);
  await enter(service, email, newPassword);
});

test('400: a reset for an unknown address', async () => {
  const { status, problem } = await reset({ email: newEmail(), code: '123456', new_password: newPassword });
  expect([status, problem?.kind]).toEqual([400, 'validation-error']);
});
