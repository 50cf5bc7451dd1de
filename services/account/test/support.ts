import { randomBytes } from 'node:crypto';
import { type AccessClaims, createVerifier, type TokenType } from '@attribution/auth';
import {
  type Client,
  forgotPassword,
  login,
  refreshSession,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, startTestService, type TestService, testKeys } from '@attribution/testing';
import type { z } from 'zod';
import account from '../src/index.ts';

type Environment = Readonly<Record<string, string>>;

export const startAccountService = (environment: Environment = {}): Promise<TestService> =>
  startTestService(account, { environment });

export const password = 'seven quiet lanterns';
export const fullName = 'Ada Lovelace';
export const newEmail = () => `ada.${randomBytes(5).toString('hex')}@example.com`;

/** Any code except the right one. */
export const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** The result of each of 20 calls made at once. */
export const atOnce = <T>(call: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 20 }, (_, i) => call(i)));

/** How often each status occurs. */
export function statusesOf(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export interface SignedUp {
  readonly email: string;
  readonly userId: string;
  readonly accountId: string;
}

/** A user who has signed up and has not verified the address yet. */
export async function signUp(service: TestService, email = newEmail()): Promise<SignedUp> {
  const { body } = await service.client.call(signup, { body: { email, password, full_name: fullName } });
  return { email, userId: body.user_id, accountId: body.account_id };
}

export interface Person extends SignedUp {
  readonly session: z.output<typeof Session>;
  /** Calls with the session's access token. */
  readonly client: Client;
}

/** A user who has signed up, verified the address and got a session. */
export async function join(service: TestService, email = newEmail()): Promise<Person> {
  const signedUp = await signUp(service, email);
  const code = await service.mailbox.codeFor(email);
  const { body } = await service.client.call(verifyEmail, { body: { email, code } });
  const session = requireSession(body);
  return { ...signedUp, session, client: service.client.with({ token: session.access_token }) };
}

/** The answer of a login, or of a verification, that opened a session. */
export function requireSession(body: object): z.output<typeof Session> {
  if (!('access_token' in body)) throw new Error(`No session: ${Object.keys(body).join(', ')}`);
  return body as z.output<typeof Session>;
}

export const logIn = (service: TestService, email: string, withPassword = password) =>
  service.client.call(login, { body: { email, password: withPassword } });

/** The session of a login that must succeed. */
export const enter = async (service: TestService, email: string, withPassword = password) =>
  requireSession((await logIn(service, email, withPassword)).body);

export const refresh = (service: TestService, token: string) =>
  service.client.call(refreshSession, { body: { refresh_token: token } });

/** Asks for a reset code and returns it; `count` is how many messages the address will have got by then. */
export async function resetCode(service: TestService, email: string, count = 2): Promise<string> {
  await service.client.call(forgotPassword, { body: { email } });
  return service.mailbox.codeFor(email, count);
}

/** Verifies one of our tokens (signature, type, expiry by the service's clock) and returns its claims. */
export function claimsIn(service: TestService, token: string, type: TokenType = 'at+jwt') {
  const claims = createVerifier(testKeys.public, () => service.clock.now().getTime()).verify(type, token);
  if (!claims) throw new Error(`Not a valid token of type ${type}`);
  return claims as AccessClaims & { iat: number; exp: number };
}

/** As the person in their open session, by a token with other rights than the database has. */
export function withClaims(service: TestService, person: Person, claims: Partial<AccessClaims>): Client {
  const { sid } = claimsIn(service, person.session.access_token);
  const own = { sub: person.userId, account: person.accountId, ...(sid !== undefined && { sid }) };
  return service.client.with({ token: personToken({ ...own, ...claims }) });
}

/** Rows of the service's database, looked at from outside. */
export async function rows<T extends object>(service: TestService, sql: string, ...values: unknown[]): Promise<T[]> {
  return (await service.db.query<T>(sql, values)).rows;
}

/** How many rows a condition finds. */
export async function count(
  service: TestService,
  table: string,
  where = 'true',
  ...values: unknown[]
): Promise<number> {
  const [row] = await rows<{ n: number }>(service, `SELECT count(*)::int AS n FROM ${table} WHERE ${where}`, ...values);
  return row?.n ?? 0;
}

export interface MembershipRow {
  readonly role?: 'owner' | 'admin' | 'member';
  readonly status?: 'active' | 'disabled';
  readonly accountStatus?: 'active' | 'suspended' | 'closed';
  readonly joinedAt?: string;
}

/** Puts a user into another account, which no endpoint of this stage does; returns the account's id. */
export async function addMembership(service: TestService, userId: string, row: MembershipRow = {}): Promise<string> {
  const accountId = newId('account');
  await service.db.query(
    `INSERT INTO accounts (id, name, account_type_key, status, created_at, updated_at)
     VALUES ($1, 'Another', 'brand', $2::"AccountStatus", now(), now())`,
    [accountId, row.accountStatus ?? 'active'],
  );
  await service.db.query(
    `INSERT INTO memberships (user_id, account_id, role, status, joined_at)
     VALUES ($1, $2, $3::"MembershipRole", $4::"MembershipStatus", $5)`,
    [userId, accountId, row.role ?? 'member', row.status ?? 'active', row.joinedAt ?? '2026-01-01T00:00:00Z'],
  );
  return accountId;
}

export type RawAnswer = Awaited<ReturnType<typeof postRaw>>;

/** Everything by which a caller could distinguish two responses: all but the date and the request id. */
export async function postRaw(service: TestService, path: string, body: unknown) {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return wholeAnswer(response);
}

export async function getRaw(service: TestService, path: string, token: string) {
  return wholeAnswer(await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } }));
}

async function wholeAnswer(response: Response) {
  const varying = ['date', 'x-request-id'];
  const headers = [...response.headers].filter(([name]) => !varying.includes(name));
  return { status: response.status, headers, text: await response.text() };
}

/** The two uses of an e-mailed code, driven alike. */
export interface CodeUse {
  readonly purpose: 'verify_email' | 'reset_password';
  readonly path: string;
  /** The status of the right code. */
  readonly right: number;
  /** An address that has got a code, and how many messages it has got by then. */
  open(service: TestService): Promise<{ email: string; code: string; sent: number }>;
  /** Asks for another code. */
  again(service: TestService, email: string): Promise<{ status: number }>;
  attempt(service: TestService, email: string, code: string): ReturnType<typeof postRaw>;
}

export const codeUses: readonly CodeUse[] = [
  {
    purpose: 'verify_email',
    path: '/v2/auth/verify-email',
    right: 200,
    async open(service) {
      const { email } = await signUp(service);
      return { email, code: await service.mailbox.codeFor(email), sent: 1 };
    },
    again: (service, email) => postRaw(service, '/v2/auth/verify-email/resend', { email }),
    attempt: (service, email, code) => postRaw(service, '/v2/auth/verify-email', { email, code }),
  },
  {
    purpose: 'reset_password',
    path: '/v2/auth/reset-password',
    right: 204,
    async open(service) {
      const { email } = await join(service);
      return { email, code: await resetCode(service, email), sent: 2 };
    },
    again: (service, email) => postRaw(service, '/v2/auth/forgot-password', { email }),
    attempt: (service, email, code) =>
      postRaw(service, '/v2/auth/reset-password', { email, code, new_password: 'eight loud trumpets' }),
  },
];
