import { randomBytes } from 'node:crypto';
import { type Client, type ServiceName, type Session, signup, verifyEmail } from '@attribution/contracts';
import type { Mailbox } from '@attribution/testing';
import pg from 'pg';
import type { z } from 'zod';

/** What a journey uses of a platform, whether that is this process or a fleet of others. */
export interface Platform {
  /** Of the gateway. */
  readonly url: string;
  /** How many share the limits of one address; each lets as many in at once as are left (ADR 6). */
  readonly gateways: number;
  /** Whether so many processes share the machine that good requests may be told to come again. */
  readonly crowded: boolean;
  /** Nobody, at the gateway. */
  readonly client: Client;
  readonly mailbox: Mailbox;
  readonly mailDirectory: string;
  /** A service past the gateway, as another one asks it. */
  inside(asked: 'account' | 'billing' | 'organization', caller: ServiceName): Client;
  /** Rows of a service's database, looked at from outside. */
  rows<T extends object>(service: string, sql: string): Promise<T[]>;
  /** All that was logged so far. */
  logged(): Promise<string>;
  /** What an authenticator shows next: a code is accepted once, and one of half a minute has the same. */
  nextCode(secret: string): Promise<string>;
}

export async function rowsOf<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

export const newEmail = () => `person-${randomBytes(5).toString('hex')}@example.com`;
export const password = 'a long walk at dawn';

/** A different client address for each sign-up: the limits count by address. */
export const fromSomewhere = () => ({ 'x-forwarded-for': `198.51.${randomBytes(1)[0]}.${randomBytes(1)[0]}` });

/** Signs somebody up and verifies the address. */
export async function newOwner(platform: Platform, email = newEmail()) {
  const anyone = platform.client.with({ headers: fromSomewhere() });
  const signedUp = (await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } })).body;
  const code = await platform.mailbox.codeFor(email);
  const session = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  const client: Client = platform.client.with({ token: session.access_token, headers: fromSomewhere() });
  return { email, ...signedUp, session, client };
}
