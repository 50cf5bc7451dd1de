import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { atOnce, codeUses, count, enter, newEmail, rows, startAccountService, statusesOf, wrong } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

describe.each(codeUses)('20 attempts of $purpose at once', (use) => {
  const attempts = async (email: string) =>
    rows(
      service,
      'SELECT attempts FROM email_codes WHERE email_key = $1 AND purpose = $2::"CodePurpose"',
      email,
      use.purpose,
    );

  test('with a wrong code: five are compared, and all are counted', async () => {
    const { email, code } = await use.open(service);
    const answers = await atOnce(() => use.attempt(service, email, wrong(code)));
    expect(statusesOf(answers)).toEqual({ 400: 4, 410: 16 });
    expect(await attempts(email)).toEqual([{ attempts: 20 }]);
    expect((await use.attempt(service, email, code)).status).toBe(410);
  });

  test('for an unknown address: the same', async () => {
    const email = newEmail();
    const answers = await atOnce(() => use.attempt(service, email, '123456'));
    expect(statusesOf(answers)).toEqual({ 400: 4, 410: 16 });
    expect(await attempts(email)).toEqual([{ attempts: 20 }]);
  });

  test('with the right code, when it is exhausted: none succeeds', async () => {
    const { email, code } = await use.open(service);
    for (let i = 0; i < 5; i++) await use.attempt(service, email, wrong(code));
    expect(statusesOf(await atOnce(() => use.attempt(service, email, code)))).toEqual({ 410: 20 });
  });

  test('with the right code and one attempt left: one succeeds', async () => {
    const { email, code } = await use.open(service);
    for (let i = 0; i < 4; i++) await use.attempt(service, email, wrong(code));
    expect(statusesOf(await atOnce(() => use.attempt(service, email, code)))).toEqual({ [use.right]: 1, 410: 19 });
  });

  test('with the right code: one succeeds', async () => {
    const { email, code } = await use.open(service);
    expect(statusesOf(await atOnce(() => use.attempt(service, email, code)))).toEqual({ [use.right]: 1, 410: 19 });
  });

  test('to request a new code: as many as an hour allows succeed for any address, and one code is valid', async () => {
    for (const email of [(await use.open(service)).email, newEmail()]) {
      await service.db.query('DELETE FROM mail_budgets WHERE recipient = $1', [email]);
      expect(statusesOf(await atOnce(() => use.again(service, email)))).toEqual({ 202: 5, 429: 15 });
      const where = 'email_key = $1 AND purpose = $2::"CodePurpose" AND used_at IS NULL AND attempts = 0';
      expect(await count(service, 'email_codes', where, email, use.purpose)).toBe(1);
    }
  });
});

test('20 right verifications at once open one session', async () => {
  const [verifyEmail] = codeUses;
  if (!verifyEmail) throw new Error('There are two uses');
  const { email, code } = await verifyEmail.open(service);
  await atOnce(() => verifyEmail.attempt(service, email, code));
  const [user] = await rows<{ id: string }>(service, 'SELECT id FROM users WHERE email = $1', email);
  expect(await count(service, 'sessions', 'user_id = $1', user?.id)).toBe(1);
  expect(
    await count(service, 'refresh_tokens t JOIN sessions s ON s.id = t.session_id', 's.user_id = $1', user?.id),
  ).toBe(1);
});

test('20 right resets at once, each to a different password: one password is set', async () => {
  const [, resetPassword] = codeUses;
  if (!resetPassword) throw new Error('There are two uses');
  const { email, code } = await resetPassword.open(service);
  const body = (i: number) => JSON.stringify({ email, code, new_password: `lantern number ${i}` });
  const answers = await atOnce((i) =>
    fetch(service.url + resetPassword.path, {
      method: 'POST',
      body: body(i),
      headers: { 'content-type': 'application/json' },
    }),
  );
  const winner = answers.findIndex(({ status }) => status === 204);
  expect(statusesOf(answers)).toEqual({ 204: 1, 410: 19 });
  await enter(service, email, `lantern number ${winner}`);
});
