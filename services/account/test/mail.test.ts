import { signup } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import PostalMime, { type Email } from 'postal-mime';
import { count, fullName, join, newEmail, password, resetCode, signUp, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

/** The message that the address got last, and its code. */
async function lastMessage(email: string, messages: number): Promise<{ mail: Email; raw: string; code: string }> {
  const code = await service.mailbox.codeFor(email, messages);
  const all = await service.mailbox.messagesTo(email);
  expect(all).toHaveLength(messages);
  const raw = all.at(-1) ?? '';
  return { raw, code, mail: await PostalMime.parse(raw) };
}

/** The visible lines of an HTML part. */
const visible = (html: string) =>
  html
    .replace(/<head>.*?<\/head>/s, '')
    .replaceAll(/<[^>]+>/g, '\n')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .split('\n')
    .filter((line) => line.trim() !== '');

const lines = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '');

test('the verification message: one, to the address, with the code on a line of its own in both parts', async () => {
  const { email } = await signUp(service);
  const { mail, code } = await lastMessage(email, 1);
  expect(mail.to).toEqual([{ address: email, name: '' }]);
  expect(mail.from).toEqual({ address: 'no-reply@attribution.example', name: 'Attribution Platform' });
  expect(mail.subject).toBe('Your verification code');
  expect(lines(mail.text ?? '')).toEqual([
    `Hello ${fullName},`,
    'Welcome. To finish signing up, enter this code:',
    code,
    'It works once, within 10 minutes.',
    'If you did not sign up, you need not do anything.',
  ]);
  expect(visible(mail.html ?? '')).toEqual(lines(mail.text ?? ''));
  expect(mail.cc ?? []).toEqual([]);
  expect(mail.bcc ?? []).toEqual([]);
  expect(mail.attachments).toEqual([]);
});

test('the reset message has its own subject and text', async () => {
  const { email } = await join(service);
  await resetCode(service, email);
  const { mail, code } = await lastMessage(email, 2);
  expect(mail.subject).toBe('Your password reset code');
  expect(lines(mail.text ?? '')).toEqual([
    `Hello ${fullName},`,
    'To set a new password, enter this code:',
    code,
    'It works once, within 10 minutes.',
    'If you did not ask for it, your password stays as it is.',
  ]);
  expect(visible(mail.html ?? '')).toEqual(lines(mail.text ?? ''));
});

test('a message contains nothing else: no password, no id, no token, and no code in a header', async () => {
  const { email, userId, accountId } = await signUp(service);
  const { mail, raw, code } = await lastMessage(email, 1);
  for (const secret of [password, userId, accountId, 'acc_', 'usr_', 'eyJ']) expect(raw).not.toContain(secret);
  expect(JSON.stringify(mail.headers)).not.toContain(code);
  expect(mail.subject).not.toContain(code);
});

test('each message has a date and its own id', async () => {
  const [ada, bob] = [await signUp(service), await signUp(service)];
  const ids: string[] = [];
  for (const { email } of [ada, bob]) {
    const { mail } = await lastMessage(email, 1);
    expect(mail.date).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(mail.messageId).toMatch(/^<[^@\s]+@[^@\s]+>$/);
    ids.push(mail.messageId ?? '');
  }
  expect(ids[0]).not.toBe(ids[1]);
});

async function signUpAs(full_name: string): Promise<string> {
  const email = newEmail();
  await service.client.call(signup, { body: { email, password, full_name } });
  return email;
}

test('a name is shown as text: its markup has no effect', async () => {
  const name = `<b onclick="x">Ada</b> & "Co" 'x'`;
  const { mail } = await lastMessage(await signUpAs(name), 1);
  expect(mail.html).not.toContain('<b ');
  expect(visible(mail.html ?? '')[0]).toBe(`Hello ${name},`);
  expect(lines(mail.text ?? '')[0]).toBe(`Hello ${name},`);
});

test('a name in any script arrives unchanged', async () => {
  const name = 'Ада Лавлейс 爱达 👩🏽‍💻 é';
  const { mail } = await lastMessage(await signUpAs(name), 1);
  expect(lines(mail.text ?? '')[0]).toBe(`Hello ${name},`);
  expect(visible(mail.html ?? '')[0]).toBe(`Hello ${name},`);
});

test('after a sign-up no message remains in the queue', async () => {
  const { email } = await signUp(service);
  await service.mailbox.codeFor(email);
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
});
