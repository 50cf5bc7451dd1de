import { randomBytes } from 'node:crypto';
import { type CallerName, type Client, type Session, signup, verifyEmail } from '@attribution/contracts';
import type { Mailbox } from '@attribution/testing';
import pg from 'pg';
import type { z } from 'zod';

/** A platform as the journeys use it: in this process, or as a fleet. */
export interface Platform {
  /** The gateway's URL. */
  readonly url: string;
  /** The number of gateways. With parallel requests, each of them may let in as many as the rate limit leaves (ADR 6). */
  readonly gateways: number;
  /** Whether so many processes share the machine that valid requests may get 503. */
  readonly crowded: boolean;
  /** A client of the gateway without a token. */
  readonly client: Client;
  /** Where devices come in, and the root that they check it by, as PEM. */
  readonly devices: { readonly url: string; readonly ca: string };
  /** The folder that `LOCAL_DIR` names for `npm run ops`. */
  readonly directory: string;
  readonly mailbox: Mailbox;
  readonly mailDirectory: string;
  /** A client that calls a service directly, with the internal token of another service, the gateway or the ingress. */
  inside(service: 'account' | 'billing' | 'campaign' | 'device' | 'organization', caller: CallerName): Client;
  /** Queries a service's database. */
  rows<T extends object>(service: string, sql: string): Promise<T[]>;
  /** Everything that was logged so far. */
  logged(): Promise<string>;
  /** The authenticator's next code. A code is accepted once, and is the same for 30 seconds. */
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

/** A random client address, because rate limits count by address. */
export const fromSomewhere = () => ({ 'x-forwarded-for': `198.51.${randomBytes(1)[0]}.${randomBytes(1)[0]}` });

/** Signs up a new owner and verifies the address. */
export async function newOwner(platform: Platform, email = newEmail()) {
  const anyone = platform.client.with({ headers: fromSomewhere() });
  const signedUp = (await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } })).body;
  const code = await platform.mailbox.codeFor(email);
  const session = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  const client: Client = platform.client.with({ token: session.access_token, headers: fromSomewhere() });
  return { email, ...signedUp, session, client };
}
