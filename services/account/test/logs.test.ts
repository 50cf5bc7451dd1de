import { getMe, logout, resendVerification, resetPassword, signup, verifyEmail } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  enter,
  logIn,
  newEmail,
  password,
  postRaw,
  refresh,
  requireSession,
  resetCode,
  startAccountService,
  wrong,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

test('after a complete journey, with refusals and a server error, no log contains a secret or an address', async () => {
  const email = newEmail();
  const name = 'Augusta Byron';
  const newPassword = 'eight loud trumpets';
  const secrets = [email, email.toUpperCase(), name, password, newPassword, 'wrong password'];
  const codes: string[] = [];
  const note = (...more: string[]) => secrets.push(...more);

  const body = { email, password, full_name: name };
  await service.client.call(signup, { body });
  await service.client.call(signup, { body: { ...body, email: email.toUpperCase() } });
  await service.client.call(signup, { body: { ...body, password: 'short' } });
  const first = await service.mailbox.codeFor(email);
  await logIn(service, email);
  await service.client.call(verifyEmail, { body: { email, code: wrong(first) } });
  await service.client.call(resendVerification, { body: { email } });
  const second = await service.mailbox.codeFor(email, 2);
  const verified = await service.client.call(verifyEmail, { body: { email, code: second } });
  const session = requireSession(verified.body);
  codes.push(first, second);
  note(session.access_token, session.refresh_token);

  await logIn(service, email, 'wrong password');
  const other = await enter(service, email);
  const { body: rotated } = await refresh(service, other.refresh_token);
  await refresh(service, other.refresh_token);
  note(other.access_token, other.refresh_token, rotated.access_token, rotated.refresh_token);
  const reset = await resetCode(service, email, 3);
  codes.push(reset);
  await service.client.call(resetPassword, { body: { email, code: reset, new_password: newPassword } });
  await postRaw(service, '/v2/auth/login', `{"email":"${email}","password":"${newPassword}`);
  await service.client.with({ token: session.access_token }).call(getMe);

  // Faults of ours, in the database and before it, are logged with their cause.
  await service.db.query('ALTER TABLE users RENAME COLUMN full_name TO gone');
  expect((await logIn(service, email, newPassword)).status).toBe(503);
  expect((await service.client.call(signup, { body: { ...body, email: newEmail() } })).status).toBe(503);
  await service.db.query('ALTER TABLE users RENAME COLUMN gone TO full_name');
  await service.db.query(
    "ALTER TABLE users ADD CONSTRAINT nobody CHECK (email_key <> 'x' AND full_name = '') NOT VALID",
  );
  const unlucky = newEmail();
  note(unlucky);
  expect((await service.client.call(signup, { body: { ...body, email: unlucky } })).status).toBe(503);
  await service.client.with({ token: session.access_token }).call(logout);

  const logs = service.logs.text();
  expect(logs).toContain('"operation":"reset_password"');
  expect(logs).toContain('A request failed');
  const signatures = secrets.flatMap((secret) => (secret.startsWith('ey') ? (secret.split('.')[2] ?? []) : []));
  expect(signatures).toHaveLength(3);
  expect([...secrets, ...signatures].filter((secret) => logs.includes(secret))).toEqual([]);
  // Six digits occur by chance in a time or an id.
  expect(codes.filter((code) => new RegExp(`(?<![\\w.-])${code}(?![\\w.-])`).test(logs))).toEqual([]);
});
