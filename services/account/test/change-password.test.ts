import { changePassword, resetPassword } from '@attribution/contracts';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  atOnce,
  count,
  enter,
  join,
  logIn,
  password,
  refresh,
  resetCode,
  rows,
  startAccountService,
  statusesOf,
} from './support.ts';
import { answer, challengeOf, joinWithMfa, nextCode } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const newPassword = 'eight loud trumpets';
const change = (client: TestService['client'], fields: object = {}) =>
  client.call(changePassword, {
    body: { current_password: password, new_password: newPassword, ...fields } as never,
  });

test('204: the new password logs in, the old one does not', async () => {
  const { client, email } = await join(service);
  const { status, body } = await change(client, { email: 'eve@example.com', user_id: 'usr_1', role: 'owner' });
  expect([status, body]).toEqual([204, undefined]);
  expect((await logIn(service, email, newPassword)).status).toBe(200);
  expect((await logIn(service, email, password)).problem?.kind).toBe('unauthorized');
});

test('204: ends the user’s other sessions, keeps this one, and touches no other user’s', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  const other = await enter(service, ada.email);
  await change(ada.client);
  expect((await refresh(service, other.refresh_token)).status).toBe(401);
  expect((await refresh(service, ada.session.refresh_token)).status).toBe(200);
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(200);
  expect(
    await rows(service, 'SELECT end_reason FROM sessions WHERE user_id = $1 AND ended_at IS NOT NULL', ada.userId),
  ).toEqual([{ end_reason: 'password_changed' }]);
});

test('204: a challenge from before becomes invalid with the old password', async () => {
  const { client, email, secret } = await joinWithMfa(service);
  const challenge = await challengeOf(service, email);
  await change(client);
  expect((await answer(service, challenge, nextCode(service, secret))).status).toBe(401);
});

test('204: the password may be typed in a different Unicode form', async () => {
  const { client, email } = await join(service);
  await change(client, { new_password: 'ﬁve Ångström' });
  expect((await logIn(service, email, 'five A\u030angstro\u0308m')).status).toBe(200);
});

test('20 changes from one password at once: one succeeds', async () => {
  const { client, email } = await join(service);
  const passwords = Array.from({ length: 20 }, (_, i) => `${newPassword} ${i}`);
  const answers = await atOnce((i) => change(client, { new_password: passwords[i] }));
  expect(statusesOf(answers)).toEqual({ 204: 1, 400: 19 });
  const winner = answers.findIndex(({ status }) => status === 204);
  expect((await logIn(service, email, passwords[winner])).status).toBe(200);
});

test('a change and a reset at once: each is applied as a whole, and one of the two passwords remains', async () => {
  const { client, email, userId } = await join(service);
  const code = await resetCode(service, email);
  const [changed, reset] = await Promise.all([
    change(client),
    service.client.call(resetPassword, { body: { email, code, new_password: 'nine slow rivers' } }),
  ]);
  expect(reset.status).toBe(204);
  expect([204, 400]).toContain(changed.status);
  const works = await Promise.all([newPassword, 'nine slow rivers'].map((one) => logIn(service, email, one)));
  expect(statusesOf(works)).toEqual({ 200: 1, 401: 1 });
  expect(await count(service, 'sessions', "user_id = $1 AND end_reason = 'password_reset'", userId)).toBe(1);
});

test('400: a wrong current password changes nothing', async () => {
  const { client, email, session } = await join(service);
  const { problem } = await change(client, { current_password: 'not the password' });
  expect(problem).toMatchObject({ status: 400, detail: 'body.current_password: is not your password.' });
  await enter(service, email);
  expect((await refresh(service, session.refresh_token)).status).toBe(200);
});

test.each([
  ['body.current_password: is required.', { current_password: undefined }],
  ['body.new_password: is required.', { new_password: undefined }],
  ['body.new_password: must be text.', { new_password: 12345678 }],
  ['body.new_password: must have at least 8 characters.', { new_password: 'short' }],
  ['body.new_password: must have at most 128 characters.', { new_password: 'long'.repeat(33) }],
  ['body.new_password: is one of the most common passwords.', { new_password: 'password123' }],
])('400: %s', async (detail, fields) => {
  const { client, email } = await join(service);
  expect((await change(client, fields)).problem).toMatchObject({ status: 400, kind: 'validation-error', detail });
  await enter(service, email);
});

test('401: a user who no longer exists', async () => {
  const { problem } = await change(service.client.with({ token: personToken() }));
  expect(problem).toMatchObject({ status: 401, detail: 'This user does not exist any more.' });
});
