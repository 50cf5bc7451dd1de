import { resendVerification, verifyEmail } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, count, type SignedUp, signUp, startAccountService, statusesOf } from './support.ts';
import { holding, standing } from './support-locks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const verify = (email: string, code: string) => service.client.call(verifyEmail, { body: { email, code } });
const resend = (email: string) => service.client.call(resendVerification, { body: { email } });

/** A user who waits for verification, with the code from the message. */
async function waiting() {
  const person = await signUp(service);
  return { ...person, code: await service.mailbox.codeFor(person.email) };
}

/** Codes that would still verify the user. */
const liveCodes = ({ userId }: SignedUp) =>
  count(service, 'email_codes', "user_id = $1 AND purpose = 'verify_email' AND used_at IS NULL", userId);

const isVerified = async ({ userId }: SignedUp) =>
  (await count(service, 'users', 'id = $1 AND email_verified_at IS NOT NULL', userId)) === 1;

const sessionsOf = ({ userId }: SignedUp) => count(service, 'sessions', 'user_id = $1', userId);

/** How many messages the address has got, once no message waits to be sent. */
async function messagesTo(email: string): Promise<number> {
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  return (await service.mailbox.messagesTo(email)).length;
}

test('a resend while the verification is under way issues no code for the verified user, and sends none', async () => {
  const person = await waiting();
  const { email, accountId, code } = person;
  const started: { verify?: ReturnType<typeof verify>; resend?: ReturnType<typeof resend> } = {};
  // The verification waits for the account's row before it opens the session: the user is already marked and the code
  // spent.
  const account = { sql: 'SELECT FROM accounts WHERE id = $1 FOR UPDATE', id: accountId };
  await holding(service, account, async () => {
    started.verify = verify(email, code);
    await standing(service, 1);
    started.resend = resend(email);
    await standing(service, 2);
  });
  expect((await started.verify)?.status).toBe(200);
  expect((await started.resend)?.status).toBe(202);
  expect(await liveCodes(person)).toBe(0);
  expect(await messagesTo(email)).toBe(1);
});

test('20 verifications and resends at once leave a verified user without a code, or one who waits with a code', async () => {
  for (let round = 0; round < 5; round++) {
    const person = await waiting();
    const { email, code } = person;
    const answers = await atOnce<{ status: number }>((n) => (n % 2 ? resend(email) : verify(email, code)));
    const { 200: verified = 0, 202: resent, ...refused } = statusesOf(answers);
    expect(resent).toBe(4); // With the sign-up's these are the codes of an hour.
    expect(verified).toBeLessThanOrEqual(1);
    for (const status of Object.keys(refused)) expect(['400', '410', '429']).toContain(status);
    expect(await isVerified(person)).toBe(verified === 1);
    expect(await liveCodes(person)).toBe(1 - verified);
    expect(await sessionsOf(person)).toBe(verified);
  }
});

test('410: a verified user is not verified again, whatever code there is; 20 tries at once open no session', async () => {
  const person = await waiting();
  const { email, userId, code } = person;
  await service.db.query("UPDATE users SET email_verified_at = '2026-01-01T00:00:00Z' WHERE id = $1", [userId]);
  const { status, problem } = await verify(email, code);
  expect([status, problem?.kind]).toEqual([410, 'gone']);
  expect(problem?.detail).toContain('expired, was used, or was tried too often');
  expect(statusesOf(await atOnce(() => verify(email, code)))).toEqual({ 410: 20 });
  expect(await sessionsOf(person)).toBe(0);
  expect(await count(service, 'users', "id = $1 AND email_verified_at = '2026-01-01T00:00:00Z'", userId)).toBe(1);
});
