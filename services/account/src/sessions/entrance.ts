import { createHash } from 'node:crypto';
import type { Signer, TokenType, Verifier } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { z } from 'zod';
import type { Tx } from '../store.ts';
import type { Place } from './membership.ts';
import { lockPlace } from './session.store.ts';

/** The way into an account between the right password and the session: the token of an MFA envelope. */
export interface Entrance {
  readonly id: string;
  readonly userId: string;
  readonly accountId: string;
  readonly expiresAt: Date;
  /** Of the password that was right: a token does not outlive its reset. */
  readonly password: string;
}

const Claims = z.object({ jti: z.uuid(), sub: z.string(), account: z.string(), exp: z.int(), pwd: z.string() });

/** Tells passwords apart, and nothing about them. */
const fingerprint = (passwordHash: string) =>
  createHash('sha256').update(passwordHash).digest('base64url').slice(0, 16);

/** `ttl` in seconds. */
export function signEntrance(
  signer: Signer,
  type: TokenType,
  given: { user: { id: string; password_hash: string }; accountId: string; ttl: number; now: Date },
): string {
  const { user, accountId, ttl, now } = given;
  const claims = { jti: newUuid(), sub: user.id, account: accountId, pwd: fingerprint(user.password_hash) };
  return signer.sign(type, claims, ttl, now);
}

export function readEntrance(verifier: Verifier, type: TokenType, token: string): Entrance | undefined {
  const claims = Claims.safeParse(verifier.verify(type, token));
  if (!claims.success) return undefined;
  const { jti, sub, account, exp, pwd } = claims.data;
  return { id: jti, userId: sub, accountId: account, expiresAt: new Date(exp * 1000), password: pwd };
}

/** Where the entrance leads to by now, locked. Throws `unauthorized` where it leads nowhere any more. */
export async function requireEntrance(tx: Tx, entrance: Entrance): Promise<Place> {
  const place = await lockPlace(tx, entrance.userId, entrance.accountId);
  if (!place || entrance.password !== fingerprint(place.user.password_hash))
    throw new Problem('unauthorized', 'What was right at the login has changed. Log in again.');
  return place;
}
