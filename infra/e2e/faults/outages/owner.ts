import { randomBytes } from 'node:crypto';
import { ACCESS_TOKEN_TTL, createSigner, type KeySet } from '@attribution/auth';
import { createClient, login, type Session, signup, verifyEmail } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { openMailbox } from '@attribution/testing';
import type { z } from 'zod';
import { patientFetch } from '../patient-fetch.ts';

export interface Owner {
  readonly email: string;
  readonly password: string;
  readonly token: string;
  /** Where the person is. */
  readonly ip: string;
  /** Logs in again, because a token is valid for 15 minutes. */
  renew(): Promise<Owner>;
}

/** Signs up a new owner and verifies the address. */
export async function newOwner(url: string, mailDirectory: string): Promise<Owner> {
  const email = `owner-${randomBytes(6).toString('hex')}@example.com`;
  const password = 'a long walk at dawn';
  const ip = randomBytes(4).join('.');
  const anyone = createClient({ baseUrl: url, headers: { 'x-forwarded-for': ip }, fetch: patientFetch });
  await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } }).then((answer) => answer.body);
  const code = await openMailbox(mailDirectory).codeFor(email);
  const entered = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  const owner = (session: z.output<typeof Session>): Owner => ({
    email,
    password,
    token: session.access_token,
    ip,
    renew: async () =>
      owner((await anyone.call(login, { body: { email, password } })).body as z.output<typeof Session>),
  });
  return owner(entered);
}

/** Returns a function that signs tokens for the owner of an account that does not exist in Account, and renews them in time. */
export function ownerTokens(privateKeys: KeySet): () => string {
  const signer = createSigner(privateKeys);
  const claims = {
    sub: newId('user'),
    account: newId('account'),
    role: 'owner',
    account_type: 'network',
    sid: newUuid(),
  };
  let token = { text: '', since: Number.NEGATIVE_INFINITY };
  return () => {
    const now = performance.now();
    if (now - token.since > 300_000) token = { text: signer.sign('at+jwt', claims, ACCESS_TOKEN_TTL), since: now };
    return token.text;
  };
}
