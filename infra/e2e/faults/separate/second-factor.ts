import { randomBytes } from 'node:crypto';
import {
  createClient,
  login,
  type Session,
  setUpMfa,
  signup,
  verifyEmail,
  verifyMfaChallenge,
  verifyMfaSetup,
} from '@attribution/contracts';
import { openMailbox } from '@attribution/testing';
import { generateSync } from 'otplib';
import type { z } from 'zod';
import { patientFetch } from '../patient-fetch.ts';
import type { SeparateWorld } from './world.ts';

const password = 'a long walk at dawn';
/** How long an authenticator shows a code. */
const periodSeconds = 30;

/**
 * A new user sets up an authenticator, whose clock is right, and logs in with it; each request may reach another replica.
 * A code is accepted only once, so the login uses the next one, which is accepted a little early. Resolves with whether
 * both codes were accepted.
 */
export async function logInWithCode(world: Pick<SeparateWorld, 'url' | 'mailDirectory'>): Promise<boolean> {
  const email = `factor-${randomBytes(6).toString('hex')}@example.com`;
  // A new connection for each request, so that the balancer chooses a replica each time.
  const headers = { 'x-forwarded-for': randomBytes(4).join('.'), connection: 'close' };
  const anyone = createClient({ baseUrl: world.url, headers, fetch: patientFetch });
  await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } });
  const code = await openMailbox(world.mailDirectory).codeFor(email);
  const session = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  const client = anyone.with({ token: session.access_token });
  const { secret } = (await client.call(setUpMfa, { body: {} })).body;

  const now = Math.floor(Date.now() / 1000);
  const codeOf = (epoch: number) => generateSync({ secret, epoch });
  if ((await client.call(verifyMfaSetup, { body: { code: codeOf(now) } })).problem) return false;
  const challenged = (await anyone.call(login, { body: { email, password } })).body as { challenge_token: string };
  const answer = { challenge_token: challenged.challenge_token, code: codeOf(now + periodSeconds) };
  return (await anyone.call(verifyMfaChallenge, { body: answer })).problem === undefined;
}
