import { forgotPassword } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  count,
  enter,
  join,
  newEmail,
  postRaw,
  type RawAnswer,
  resetCode,
  signUp,
  startAccountService,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const forgot = (body: object) => service.client.call(forgotPassword, { body: body as never });

test('202: sends a code to a known address, written in any letter case', async () => {
  const { email } = await join(service);
  const { status, body } = await forgot({ email: email.toUpperCase(), ignored: true });
  expect([status, body]).toEqual([202, undefined]);
  expect(await service.mailbox.codeFor(email, 2)).toMatch(/^\d{6}$/);
});

test('202: sends a code to an address that is not verified yet', async () => {
  const { email } = await signUp(service);
  await service.mailbox.codeFor(email);
  expect(await resetCode(service, email)).toMatch(/^\d{6}$/);
});

test('202: the response is identical byte for byte for a known, an unverified, a disabled and an unknown address', async () => {
  const known = await join(service);
  const unverified = await signUp(service);
  const disabled = await join(service);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);

  const answers: RawAnswer[] = [];
  for (const email of [known.email, unverified.email, disabled.email, newEmail()]) {
    answers.push(await postRaw(service, '/v2/auth/forgot-password', { email }));
  }
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(202);
});

test('202: sends nothing to a disabled or an unknown address', async () => {
  const disabled = await join(service);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);
  const unknown = newEmail();
  for (const email of [disabled.email, unknown]) await forgot({ email });

  // A message that was queued last has arrived, so the others would have arrived too.
  await join(service);
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  expect(await service.mailbox.messagesTo(disabled.email)).toHaveLength(1);
  expect(await service.mailbox.messagesTo(unknown)).toEqual([]);
});

test('202: changes neither the password nor the sessions', async () => {
  const { email, session } = await join(service);
  await resetCode(service, email);
  expect(await count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', session.user.id)).toBe(1);
  await enter(service, email);
});

test.each([
  ['body.email: is required.', {}],
  ['body.email: must be text, not null.', { email: null }],
  ['body.email: must be an email address, not "ada@example".', { email: 'ada@example' }],
])('400: %s', async (detail, body) => {
  const { status, problem } = await forgot(body);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});
