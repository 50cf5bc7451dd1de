import { randomBytes } from 'node:crypto';
import { createClient, signup, verifyEmail } from '@attribution/contracts';
import { openMailbox } from '@attribution/testing';
import type { LocalPlatform } from './local.ts';

/** People who sign up at the same time: more would wait for each other's hashes. */
const atOnce = 4;

export interface People {
  readonly password: string;
  readonly verified: boolean;
}

/** Signs up so many people, each from a network of its own, and returns their addresses. */
export async function signUpPeople(
  { url, mailDirectory }: Pick<LocalPlatform, 'url' | 'mailDirectory'>,
  count: number,
  { password, verified }: People,
): Promise<readonly string[]> {
  const mailbox = openMailbox(mailDirectory);
  const somewhere = () => `192.0.${randomBytes(1)[0]}.${randomBytes(1)[0]}`;
  const signUp = async (email: string) => {
    const client = createClient({ baseUrl: url, headers: { 'x-forwarded-for': somewhere() } });
    const signedUp = await client.call(signup, { body: { email, password, full_name: 'Grace Hopper' } });
    if (signedUp.problem) throw new Error(`${email} was not signed up: ${signedUp.problem.detail}`);
    if (!verified) return;
    const { problem } = await client.call(verifyEmail, { body: { email, code: await mailbox.codeFor(email) } });
    if (problem) throw new Error(`${email} was not verified: ${problem.detail}`);
  };
  const emails = Array.from({ length: count }, () => `person-${randomBytes(6).toString('hex')}@example.com`);
  for (let n = 0; n < count; n += atOnce) await Promise.all(emails.slice(n, n + atOnce).map(signUp));
  return emails;
}
