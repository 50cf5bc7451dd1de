import { randomBytes } from 'node:crypto';
import { createClient, createGroup, login, type Session, signup, verifyEmail } from '@attribution/contracts';
import { openMailbox } from '@attribution/testing';
import type { z } from 'zod';

export interface Owner {
  readonly email: string;
  readonly password: string;
  /** The id of one of the groups. */
  readonly group: string;
  /** Logs in and returns a new access token. */
  token(): Promise<string>;
}

/** Signs up an owner with that many groups. */
export async function newOwner(url: string, mailDirectory: string, groups: number): Promise<Owner> {
  const client = createClient({ baseUrl: url });
  const email = `owner-${randomBytes(5).toString('hex')}@example.com`;
  const password = 'a long walk at dawn';
  await client.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } });
  await client.call(verifyEmail, { body: { email, code: await openMailbox(mailDirectory).codeFor(email) } });
  const token = async () => {
    const session = (await client.call(login, { body: { email, password } })).body as z.output<typeof Session>;
    return session.access_token;
  };
  const owner = client.with({ token: await token() });
  let group = '';
  for (let n = 1; n <= groups; n++) group = (await owner.call(createGroup, { body: { name: `Group ${n}` } })).body.id;
  return { email, password, group, token };
}
