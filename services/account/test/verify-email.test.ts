import { getMe, verifyEmail } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsIn, count, fullName, logIn, newEmail, rows, signUp, startAccountService, wrong } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const verify = (body: object) => service.client.call(verifyEmail, { body: body as never });

/** A user who waits for verification, with the code from the message. */
async function waiting() {
  const person = await signUp(service);
  return { ...person, code: await service.mailbox.codeFor(person.email) };
}

test('200: the right code verifies the address and opens the first session', async () => {
  const { email, code, userId, accountId } = await waiting();
  const { status, body } = await verify({ email, code });
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.stringMatching(/^rt_/),
    user: {
      id: userId,
      email,
      full_name: fullName,
      email_verified: true,
      mfa_enabled: false,
      created_at: expect.stringMatching(/Z$/),
    },
    account: {
      id: accountId,
      name: fullName,
      account_type: 'network',
      status: 'active',
      require_mfa: false,
      created_at: expect.stringMatching(/Z$/),
    },
  });
  const token = 'access_token' in body ? body.access_token : '';
  expect((await service.client.with({ token }).call(getMe)).body).toMatchObject({ id: userId, email_verified: true });
  expect((await logIn(service, email)).status).toBe(200);
});

test('200: the address may be written in any letter case, and unknown fields are ignored', async () => {
  const { email, code } = await waiting();
  expect((await verify({ email: ` ${email.toUpperCase()} `, code, new: true })).status).toBe(200);
});

test.each(['user', 'account'])('200: where the %s requires MFA, the setup envelope, and no session', async (who) => {
  const { email, code, userId, accountId } = await waiting();
  const id = who === 'user' ? userId : accountId;
  await service.db.query(`UPDATE ${who}s SET require_mfa = true WHERE id = $1`, [id]);

  const { status, body } = await verify({ email, code });
  expect(status).toBe(200);
  expect(body).toEqual({ mfa_setup_required: true, setup_token: expect.any(String), expires_in: 900 });
  const setupToken = 'setup_token' in body ? body.setup_token : '';
  const { iat, exp, ...claims } = claimsIn(service, setupToken, 'mfa-setup+jwt');
  expect(claims).toMatchObject({ sub: userId, account: accountId });
  expect(exp - iat).toBe(900);

  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(0);
  const [user] = await rows<{ email_verified_at: Date | null }>(service, 'SELECT * FROM users WHERE id = $1', userId);
  expect(user?.email_verified_at).not.toBeNull();
});

test('401: the setup token opens nothing that an access token opens', async () => {
  const { email, code, userId } = await waiting();
  await service.db.query('UPDATE users SET require_mfa = true WHERE id = $1', [userId]);
  const { body } = await verify({ email, code });
  const token = 'setup_token' in body ? body.setup_token : '';
  expect((await service.client.with({ token }).call(getMe)).problem?.kind).toBe('unauthorized');
});

test.each([
  ['body.email: is required.', { code: '123456' }],
  ['body.code: is required.', { email: 'ada@example.com' }],
  ['body.code: must be text.', { email: 'ada@example.com', code: 123456 }],
  ['body.code: must be the 6 digits of the e-mail.', { email: 'ada@example.com', code: '12345' }],
  ['body.code: must be the 6 digits of the e-mail.', { email: 'ada@example.com', code: '１２３４５６' }],
  ['body.email: must be an email address, not "ada".', { email: 'ada', code: '123456' }],
])('400: %s', async (detail, body) => {
  const { status, problem } = await verify(body);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});

test('400: a code that is no code counts as no attempt', async () => {
  const { email, code } = await waiting();
  for (const bad of ['1', '12345x', ' ', 'abcdef', '1234567', ''])
    expect((await verify({ email, code: bad })).status).toBe(400);
  expect((await verify({ email, code })).status).toBe(200);
});

test('400: a wrong code verifies nothing', async () => {
  const { email, code } = await waiting();
  const { status, problem } = await verify({ email, code: wrong(code) });
  expect([status, problem?.kind, problem?.detail]).toEqual([
    400,
    'validation-error',
    'body.code: is not the code of the latest e-mail.',
  ]);
  expect((await logIn(service, email)).status).toBe(403);
});

test('403: a disabled user, and then the code is not spent', async () => {
  const { email, code, userId } = await waiting();
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
  const { status, problem } = await verify({ email, code });
  expect([status, problem?.kind, problem?.detail]).toEqual([403, 'forbidden', 'This user is disabled.']);
  expect(await count(service, 'users', 'id = $1 AND email_verified_at IS NULL', userId)).toBe(1);

  await service.db.query('UPDATE users SET disabled_at = NULL WHERE id = $1', [userId]);
  expect((await verify({ email, code })).status).toBe(200);
});

test('403: where the only account is closed', async () => {
  const { email, code, accountId } = await waiting();
  await service.db.query("UPDATE accounts SET status = 'closed' WHERE id = $1", [accountId]);
  const { status, problem } = await verify({ email, code });
  expect([status, problem?.kind]).toEqual([403, 'forbidden']);
  expect(problem?.detail).toContain('The account is closed');
});

test('400, not 403: the wrong code of a disabled user says nothing of the user', async () => {
  const { email, code, userId } = await waiting();
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
  expect((await verify({ email, code: wrong(code) })).problem).toEqual(
    (await verify({ email: newEmail(), code: '123456' })).problem,
  );
});

test('410: a code that was used, even in the hands of who used it', async () => {
  const { email, code } = await waiting();
  await verify({ email, code });
  const { status, problem } = await verify({ email, code });
  expect([status, problem?.kind]).toEqual([410, 'gone']);
  expect(problem?.detail).toContain('expired, was used, or was tried too often');
});
