import { randomBytes } from 'node:crypto';
import { ACCESS_TOKEN_TTL, createSigner, type KeySet } from '@attribution/auth';
import { createClient, newId, newUuid, type Session, signup, verifyEmail } from '@attribution/contracts';
import { openMailbox } from '@attribution/testing';
import type { z } from 'zod';

/** Signs somebody up and verifies the address; the access token lives 15 minutes. */
export async function newOwner(url: string, mailDirectory: string): Promise<{ accountId: string; token: string }> {
  const email = `owner-${randomBytes(6).toString('hex')}@example.com`;
  const anyone = createClient({ baseUrl: url, headers: { 'x-forwarded-for': randomBytes(4).join('.') } });
  const body = { email, password: 'a long walk at dawn', full_name: 'Ada Lovelace' };
  const { account_id } = (await anyone.call(signup, { body })).body;
  const code = await openMailbox(mailDirectory).codeFor(email);
  const session = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  return { accountId: account_id, token: session.access_token };
}

/** Gives tokens of an owner of no account that anybody signed up; each lives as long as any. */
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
