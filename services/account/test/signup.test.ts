import { signup } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  atOnce,
  count,
  fullName,
  join,
  newEmail,
  password,
  rows,
  signUp,
  startAccountService,
  statusesOf,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const call = (body: object) => service.client.call(signup, { body: body as never });

test('202: returns the ids of the new user and account, and the e-mail contains the code', async () => {
  const email = newEmail();
  const answer = await call({ email, password, full_name: fullName });
  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({
    user_id: expect.stringMatching(/^usr_/),
    account_id: expect.stringMatching(/^acc_/),
    verification: { method: 'email_code', email, code_length: 6, code_charset: 'digits', expires_in: 600 },
  });
  expect(await service.mailbox.codeFor(email)).toMatch(/^\d{6}$/);
});

test('202: creates an unverified user, who owns a new account of the default type with the user’s name', async () => {
  const { userId, accountId, email } = await signUp(service);
  expect(
    await rows(service, 'SELECT email, full_name, email_verified_at, disabled_at FROM users WHERE id = $1', userId),
  ).toEqual([{ email, full_name: fullName, email_verified_at: null, disabled_at: null }]);
  const select =
    'SELECT a.name, a.account_type_key, a.status, m.user_id, m.role, m.group_scope FROM accounts a JOIN memberships m';
  expect(await rows(service, `${select} ON m.account_id = a.id WHERE a.id = $1`, accountId)).toEqual([
    {
      name: fullName,
      account_type_key: 'network',
      status: 'active',
      user_id: userId,
      role: 'owner',
      group_scope: 'all',
    },
  ]);
});

test('202: opens no session', async () => {
  const { userId } = await signUp(service);
  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(0);
});

test('202: trims the address and the name, keeps their letter case, and ignores unknown fields', async () => {
  const email = newEmail().replace('ada', 'Ada');
  const { body } = await call({ email: ` ${email} `, password, full_name: '  Ada King ', role: 'owner', id: 'usr_1' });
  expect(await rows(service, 'SELECT email, full_name FROM users WHERE id = $1', body.user_id)).toEqual([
    { email, full_name: 'Ada King' },
  ]);
});

test('only a bcrypt hash of the password is stored', async () => {
  const { userId } = await signUp(service);
  const [user] = await rows<{ password_hash: string }>(service, 'SELECT * FROM users WHERE id = $1', userId);
  expect(user?.password_hash).toMatch(/^[0-9a-f]{8}\$2b\$04\$/);
  expect(JSON.stringify(user)).not.toContain(password);
});

test.each([
  ['email', { password, full_name: fullName }, 'body.email: is required.'],
  ['password', { email: 'ada@example.com', full_name: fullName }, 'body.password: is required.'],
  ['full_name', { email: 'ada@example.com', password }, 'body.full_name: is required.'],
  ['email', { email: 5, password, full_name: fullName }, 'body.email: must be text, not 5.'],
  ['password', { email: 'ada@example.com', password: ['a'], full_name: fullName }, 'body.password: must be text.'],
  ['full_name', { email: 'ada@example.com', password, full_name: null }, 'body.full_name: must be text, not null.'],
  ['full_name', { email: 'ada@example.com', password, full_name: '  ' }, 'body.full_name: must not be empty'],
  [
    'full_name',
    { email: 'ada@example.com', password, full_name: 'x'.repeat(201) },
    'body.full_name: must have at most 200',
  ],
  ['email', { email: 'ada@', password, full_name: fullName }, 'body.email: must be an email address, not "ada@".'],
  ['email', { email: `a@${'b'.repeat(250)}.com`, password, full_name: fullName }, 'body.email: must have at most 254'],
])('400: names %s where it is missing or unfit (%#)', async (_field, body, detail) => {
  const { status, problem } = await call(body);
  expect([status, problem?.kind]).toEqual([400, 'validation-error']);
  expect(problem?.detail).toContain(detail);
});

test('400: without a body', async () => {
  const { problem } = await service.client.call(signup);
  expect(problem).toMatchObject({ kind: 'validation-error', status: 400, detail: 'body: is required.' });
});

test('400: the response does not repeat a refused password', async () => {
  const { problem } = await call({ email: newEmail(), password: 'sesame7', full_name: fullName });
  expect(problem?.detail).toBe('body.password: must have at least 8 characters.');
  expect(JSON.stringify(problem)).not.toContain('sesame7');
});

test('409: the address of an unverified user, in any letter case', async () => {
  const { email } = await signUp(service);
  for (const again of [email, email.toUpperCase(), email.replace('ada', 'aDa')]) {
    const { status, problem } = await call({ email: again, password, full_name: 'Somebody Else' });
    expect([status, problem?.kind]).toEqual([409, 'conflict']);
    expect(problem?.detail).toContain('body.email');
  }
});

test('409: the address of a verified user, in any letter case', async () => {
  const { email } = await join(service);
  for (const again of [email, email.toUpperCase()]) {
    const { problem } = await call({ email: again, password, full_name: 'Somebody Else' });
    expect(problem?.kind).toBe('conflict');
  }
});

test('409: the first code stays valid, and no other is sent', async () => {
  const { email } = await signUp(service);
  const code = await service.mailbox.codeFor(email);
  const noneQueued = async () => expect(await count(service, 'queued_mails')).toBe(0);
  await eventually(noneQueued); // A mail that was sent leaves the queue a moment later.
  await call({ email, password, full_name: 'Somebody Else' });
  await noneQueued();
  expect(await service.mailbox.messagesTo(email)).toHaveLength(1);
  expect(await service.mailbox.codeFor(email)).toBe(code);
});

test('20 sign-ups of one address at once: one is accepted, and creates one of everything', async () => {
  const email = newEmail();
  const answers = await atOnce((i) =>
    call({ email: i % 2 ? email : email.toUpperCase(), password, full_name: `Racer ${i}` }),
  );
  expect(statusesOf(answers)).toEqual({ 202: 1, 409: 19 });
  const accountId = answers.find(({ status }) => status === 202)?.body.account_id;

  expect(await count(service, 'users', 'lower(email) = $1', email)).toBe(1);
  expect(await count(service, 'accounts', "name LIKE 'Racer %'")).toBe(1);
  expect(await count(service, 'ledger_entries', 'account_id = $1', accountId)).toBe(1);
  await eventually(async () => {
    expect(await count(service, 'outbox')).toBe(0);
    expect(await count(service, 'queued_mails')).toBe(0);
  });
  expect(service.published.filter(({ data }) => String(data.name).startsWith('Racer '))).toHaveLength(1);
  const messages = await Promise.all([email, email.toUpperCase()].map((to) => service.mailbox.messagesTo(to)));
  expect(messages.flat()).toHaveLength(1);
});
