import {
  type Client,
  changePassword,
  closeAccount,
  login,
  renewRecoveryCodes,
  resetPassword,
  rotateApiKey,
  switchAccount,
  transferOwnership,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Email } from 'postal-mime';
import { addressRange } from '../src/notices/address-range.ts';
import {
  atOnce,
  enter,
  join,
  password,
  requireSession,
  resetCode,
  startAccountService,
  statusesOf,
} from './support.ts';
import { makeKey } from './support-keys.ts';
import { messagesTo } from './support-mails.ts';
import { addMember } from './support-members.ts';
import { answer, challengeOf, enrol, nextCode, turnOff, wrongCode } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

/** The notices that the address got, once no message waits to be sent. */
const noticesTo = async (email: string): Promise<Email[]> =>
  (await messagesTo(service, email)).filter(({ text }) => text?.includes('If this was you'));
const subjectsTo = async (email: string) => (await noticesTo(email)).map(({ subject }) => subject);

const from = (ip: string, client: Client = service.client) => client.with({ headers: { 'x-forwarded-for': ip } });
const enterFrom = (ip: string, email: string) => from(ip).call(login, { body: { email, password } });
const home = '198.51.100.7';

test('the notice of a new password says what happened, when, from where and what to do, without the password', async () => {
  const { client, email } = await join(service);
  const body = { current_password: password, new_password: 'eight loud trumpets' };
  expect((await from('203.0.113.9', client).call(changePassword, { body })).status).toBe(204);
  const [notice, ...more] = await noticesTo(email);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({ subject: 'Your password was changed', to: [{ address: email }] });
  const now = service.clock.now().toISOString();
  for (const text of [notice?.text, notice?.html]) {
    expect(text).toContain('The password of your user was changed.');
    expect(text).toMatch(new RegExp(`When: ${now.slice(0, 10)} \\d\\d:\\d\\d UTC`));
    expect(text).toContain('From: 203.0.113.9');
    expect(text).toContain('reset your password at once');
    expect(text).not.toMatch(/trumpets|lanterns|https?:/);
  }
});

test('a password reset, MFA turned on and off, and recovery codes made and used are told', async () => {
  const joined = await join(service);
  const person = await enrol(service, joined);
  const { client, email, secret, recoveryCodes } = person;
  const renewed = await client.call(renewRecoveryCodes, { body: { code: nextCode(service, secret) } });
  const [first = '', second = ''] = renewed.body.recovery_codes;
  const opened = requireSession((await answer(service, await challengeOf(service, email), first)).body);
  await turnOff(service.client.with({ token: opened.access_token }), second);
  expect(await subjectsTo(email)).toEqual([
    'MFA was turned on',
    'New recovery codes were made',
    'A recovery code was used',
    'A recovery code was used',
    'MFA was turned off',
  ]);
  const code = await resetCode(service, email, (await messagesTo(service, email)).length + 1);
  await service.client.call(resetPassword, { body: { email, code, new_password: 'eight loud trumpets' } });
  const notices = await noticesTo(email);
  expect(notices.at(-1)?.subject).toBe('Your password was changed');
  for (const { text = '', html = '' } of notices)
    for (const secretText of [secret, code, ...recoveryCodes, ...renewed.body.recovery_codes])
      expect(text + html).not.toContain(secretText);
});

test('an API key that is made or rotated is told to who did it, by its id and not by its name', async () => {
  const { client, email } = await join(service);
  const key = await makeKey(client, { name: 'Free money at evil.example/x' });
  const rotated = (await client.call(rotateApiKey, { params: { id: key.id }, body: {} })).body;
  const [made, replaced] = await noticesTo(email);
  expect(made).toMatchObject({ subject: 'A new API key was made', text: expect.stringContaining(key.id) });
  expect(replaced).toMatchObject({ subject: 'An API key was replaced', text: expect.stringContaining(rotated.id) });
  for (const { text = '', html = '' } of [made, replaced] as Email[])
    for (const hidden of ['Free money', key.access_key_secret, rotated.access_key_secret])
      expect(text + html).not.toContain(hidden);
});

test('20 transfers at once tell the old owner and the new one once each', async () => {
  const owner = await join(service);
  const heir = await addMember(service, owner);
  const params = { id: owner.accountId };
  const answers = await atOnce(() => owner.client.call(transferOwnership, { params, body: { user_id: heir.userId } }));
  expect(statusesOf(answers)).toEqual({ 204: 1, 403: 19 });
  expect(await subjectsTo(owner.email)).toEqual(['Your account was handed over']);
  expect(await subjectsTo(heir.email)).toEqual(['You own an account now']);
});

test('what was refused is told to nobody', async () => {
  const owner = await join(service);
  const member = await addMember(service, owner);
  const enrolled = await enrol(service, member);
  const params = { id: owner.accountId };
  await owner.client.call(transferOwnership, { params, body: { user_id: member.userId, password: 'wrong' } });
  await owner.client.call(closeAccount, { params, body: { password: 'wrong' } });
  await owner.client.call(changePassword, { body: { current_password: 'wrong', new_password: 'eight loud trumpets' } });
  await turnOff(enrolled.client, wrongCode(service, enrolled.secret));
  expect(await subjectsTo(owner.email)).toEqual([]);
  expect(await subjectsTo(member.email)).toEqual(['MFA was turned on']);
});

test('the first sign-in of all tells nobody; one from elsewhere does, once, and not from the same range again', async () => {
  const { email } = await join(service);
  await enter(service, email);
  expect(await subjectsTo(email)).toEqual([]);
  expect(statusesOf(await atOnce(() => enterFrom(home, email)))).toEqual({ 200: 20 });
  await enterFrom('198.51.100.250', email);
  await enterFrom('2001:db8:1:2::3', email);
  await enterFrom('2001:db8:1:ffff::4', email);
  const notices = await noticesTo(email);
  expect(notices.map(({ subject }) => subject)).toEqual(Array(2).fill('You signed in from a new place'));
  expect(notices.map(({ text }) => /From: (.*)/.exec(text ?? '')?.[1])).toEqual([home, '2001:db8:1:2::3']);
});

test('only what opens a session is a sign-in: no wrong password, no challenge that is not answered, no switch', async () => {
  const person = await enrol(service, await join(service));
  const { email, accountId } = person;
  await from(home).call(login, { body: { email, password: 'not the password' } });
  await enterFrom(home, email);
  await from(home, person.client).call(switchAccount, { body: { account_id: accountId } });
  expect(await subjectsTo(email)).toEqual(['MFA was turned on']);
  const challenge = await challengeOf(service, email);
  await answer({ ...service, client: from(home) }, challenge, nextCode(service, person.secret));
  expect(await subjectsTo(email)).toEqual(['MFA was turned on', 'You signed in from a new place']);
});

test.each([
  ['203.0.113.9', '203.0.113.0/24'],
  ['::ffff:203.0.113.9', '203.0.113.0/24'],
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
  ['fe80::1%eth0', 'fe80::/48'],
  ['unknown', 'unknown'],
])('the range of %s is %s', (ip, range) => {
  expect(addressRange(ip)).toBe(range);
});
