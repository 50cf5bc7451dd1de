import { resendVerification } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { count, join, newEmail, postRaw, type RawAnswer, signUp, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const resend = (body: object) => service.client.call(resendVerification, { body: body as never });

test('202: sends a fresh code to an address that waits for verification, written in any letter case', async () => {
  const { email } = await signUp(service);
  await service.mailbox.codeFor(email);
  const { status, body } = await resend({ email: email.toUpperCase(), ignored: true });
  expect([status, body]).toEqual([202, undefined]);
  expect(await service.mailbox.codeFor(email, 2)).toMatch(/^\d{6}$/);
});

test('202: the response is identical byte for byte for a waiting, a verified, a disabled and an unknown address', async () => {
  const waiting = await signUp(service);
  const verified = await join(service);
  const disabled = await signUp(service);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);

  const addresses = [waiting.email, verified.email, disabled.email, newEmail()];
  const answers: RawAnswer[] = [];
  for (const email of addresses) answers.push(await postRaw(service, '/v2/auth/verify-email/resend', { email }));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(202);
});

test('202: sends nothing to a verified, a disabled or an unknown address', async () => {
  const verified = await join(service);
  const disabled = await signUp(service);
  await service.mailbox.codeFor(disabled.email);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);
  const unknown = newEmail();
  for (const email of [verified.email, disabled.email, unknown]) await resend({ email });

  // A message that was queued last has arrived, so the others would have arrived too.
  const last = await signUp(service);
  await service.mailbox.codeFor(last.email);
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  expect(await service.mailbox.messagesTo(verified.email)).toHaveLength(1);
  expect(await service.mailbox.messagesTo(disabled.email)).toHaveLength(1);
  expect(await service.mailbox.messagesTo(unknown)).toEqual([]);
});

test.each([
  ['body.email: is required.', {}],
  ['body.email: must be text.', { email: ['ada@example.com'] }],
  ['body.email: must be an email address, not "".', { email: '' }],
])('400: %s', async (detail, body) => {
  const { status, problem } = await resend(body);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});
