import { changePassword, resetPassword, signup, verifyEmail } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  fullName,
  join,
  logIn,
  newEmail,
  password as own,
  postRaw,
  resetCode,
  startAccountService,
} from './support.ts';
import { accept, invite } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const signUpWith = (password: string, email = newEmail()) =>
  service.client.call(signup, { body: { email, password, full_name: fullName } });

/** A verified person with the password; returns the address. */
async function joinWith(password: string): Promise<string> {
  const email = newEmail();
  await signUpWith(password, email);
  await service.client.call(verifyEmail, { body: { email, code: await service.mailbox.codeFor(email) } });
  return email;
}

const refused = [
  ['too short', 'lantern', 'must have at least 8 characters'],
  ['too long', 'ab'.repeat(65), 'must have at most 128 characters'],
  ['common', 'Password1', 'is one of the most common passwords'],
  ['one character over and over', '????????', 'is one character over and over'],
  ['the name of the platform', 'Attribution-Platform', 'is the name of this platform'],
] as const;

test.each(refused)('400: sign-up refuses a password that is %s', async (_what, password, why) => {
  const { status, problem } = await signUpWith(password);
  expect([status, problem?.kind]).toEqual([400, 'validation-error']);
  expect(problem?.detail).toBe(`body.password: ${why}.`);
});

test.each(refused)('400: a reset refuses a password that is %s', async (_what, new_password, why) => {
  const body = { email: newEmail(), code: '123456', new_password };
  const { status, problem } = await service.client.call(resetPassword, { body });
  expect([status, problem?.kind]).toEqual([400, 'validation-error']);
  expect(problem?.detail).toBe(`body.new_password: ${why}.`);
});

const ownAddress = [400, expect.stringMatching(/^body\.(new_)?password: is your e-mail address\.$/)];
const outcomeOf = ({ status, problem }: { status: number; problem?: { detail: string } | undefined }) => [
  status,
  problem?.detail,
];

test('400: the user’s own address is no password: at sign-up, reset, change and on an invitation', async () => {
  const { email, client } = await join(service);
  const local = email.split('@', 1)[0]?.toUpperCase() ?? '';
  const code = await resetCode(service, email);
  const invited = await invite(service, { client });
  const invitedLocal = invited.email.split('@', 1)[0] ?? '';
  const refusals = await Promise.all([
    signUpWith('grace.hopper', 'Grace.Hopper@example.com'),
    service.client.call(resetPassword, { body: { email: email.toUpperCase(), code, new_password: local } }),
    client.call(changePassword, { body: { current_password: own, new_password: email } }),
    accept(service, invited.token, { full_name: fullName, password: invitedLocal }),
  ]);
  expect(refusals.map(outcomeOf)).toEqual(Array(4).fill(ownAddress));
  // What was refused has spent neither the code nor the invitation.
  const reset = await service.client.call(resetPassword, {
    body: { email, code, new_password: 'eight loud trumpets' },
  });
  expect([reset.status, (await accept(service, invited.token)).status]).toEqual([204, 200]);
});

test.each([
  ['8', 'lanterns'],
  ['128', 'ab'.repeat(64)],
  ['128, each of two UTF-16 units,', '🏮🏔'.repeat(64)],
])('a password of %s characters signs up and logs in', async (_length, password) => {
  const email = await joinWith(password);
  expect((await logIn(service, email, password)).status).toBe(200);
});

test('a password logs in however its characters were typed (NFKC), and no other does', async () => {
  const email = await joinWith('café ﬁnal ①');
  expect((await logIn(service, email, 'cafe\u0301 final 1')).status).toBe(200);
  expect((await logIn(service, email, 'cafe final 1')).status).toBe(401);
});

test('a password counts to its last byte: two that share their first 72 bytes are different', async () => {
  const start = 'quiet lanterns '.repeat(5);
  expect(Buffer.byteLength(start)).toBeGreaterThan(72);
  const email = await joinWith(`${start}one`);
  expect((await logIn(service, email, `${start}two`)).status).toBe(401);
  expect((await logIn(service, email, start)).status).toBe(401);
  expect((await logIn(service, email, `${start}one`)).status).toBe(200);
});

test.each(['/v2/auth/signup', '/v2/auth/login', '/v2/auth/reset-password'])('400: %s takes no NUL', async (path) => {
  const password = 'seven\0lanterns';
  const body = { email: newEmail(), full_name: fullName, code: '123456', password, new_password: password };
  const answer = await postRaw(service, path, body);
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text).detail).toBe('body.password: contains a NUL character.');
});

test('the letter case and the spaces of a password count', async () => {
  const email = await joinWith('Seven Quiet Lanterns');
  for (const other of ['seven quiet lanterns', 'SevenQuietLanterns', ' Seven Quiet Lanterns']) {
    expect((await logIn(service, email, other)).status).toBe(401);
  }
});

test('a password that was set by a reset follows the same normal form', async () => {
  const { email } = await join(service);
  const code = await resetCode(service, email);
  await service.client.call(resetPassword, { body: { email, code, new_password: 'ｗｉｄｅ lanterns' } });
  expect((await logIn(service, email, 'wide lanterns')).status).toBe(200);
});

test('400: the least length is configured', async () => {
  const stricter = await startAccountService({ PASSWORD_MIN_LENGTH: '12' });
  try {
    const body = { email: newEmail(), password: 'elevenchars', full_name: fullName };
    const { problem } = await stricter.client.call(signup, { body });
    expect(problem?.detail).toBe('body.password: must have at least 12 characters.');
    expect((await stricter.client.call(signup, { body: { ...body, password: 'twelve chars' } })).status).toBe(202);
  } finally {
    await stricter.stop();
  }
});
