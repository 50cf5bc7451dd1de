import { createHash } from 'node:crypto';
import type { Signer, TokenType, Verifier } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { z } from 'zod';
import type { Tx } from '../store.ts';
import type { Place } from './membership.ts';
import { lockPlace } from './session.store.ts';

/** The state between the right password and the session: the content of an MFA challenge or setup token. */
export interface Entrance {
  readonly id: string;
  readonly userId: string;
  readonly accountId: string;
  readonly expiresAt: Date;
  /** The fingerprint of the password that was checked, so that the token becomes invalid when the password is reset. */
  readonly password: string;
  /**
   * The sign-in of the session that asked for it, so that it proves no more than that session does. Absent when a login
   * asked for it.
   */
  readonly signedInAt?: Date;
}

const Claims = z.object({
  jti: z.uuid(),
  sub: z.string(),
  account: z.string(),
  exp: z.int(),
  pwd: z.string(),
  signed_in: z.int().optional(),
});

/** Distinguishes passwords without revealing anything about them. */
const fingerprint = (passwordHash: string) =>
  createHash('sha256').update(passwordHash).digest('base64url').slice(0, 16);

/** `ttl` in seconds. */
export function signEntrance(
  signer: Signer,
  type: TokenType,
  given: {
    user: { id: string; password_hash: string };
    accountId: string;
    signedInAt?: Date | undefined;
    ttl: number;
    now: Date;
  },
): string {
  const { user, accountId, signedInAt, ttl, now } = given;
  const claims = {
    jti: newUuid(),
    sub: user.id,
    account: accountId,
    pwd: fingerprint(user.password_hash),
    signed_in: signedInAt?.getTime(),
  };
  return signer.sign(type, claims, ttl, now);
}

export function readEntrance(verifier: Verifier, type: TokenType, token: string): Entrance | undefined {
  const claims = Claims.safeParse(verifier.verify(type, token));
  if (!claims.success) return undefined;
  const { jti, sub, account, exp, pwd, signed_in } = claims.data;
  const entrance = { id: jti, userId: sub, accountId: account, expiresAt: new Date(exp * 1000), password: pwd };
  return signed_in === undefined ? entrance : { ...entrance, signedInAt: new Date(signed_in) };
}

/**
 * Locks and returns the place that the entrance leads to. Throws `unauthorized` when the entrance is no longer valid.
 */
export async function requireEntrance(tx: Tx, entrance: Entrance): Promise<Place> {
  const place = await lockPlace(tx, entrance.userId, entrance.accountId);
  if (!place || entrance.password !== fingerprint(place.user.password_hash))
    throw new Problem('unauthorized', 'What was right at the login has changed. Log in again.');
  return place;
}
