import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '@attribution/ids';

/** Lifetime of a refresh token, and of a sign-in however often its tokens or the account change (decision 10). */
export const refreshTokenDays = 30;
export const sessionDays = 90;

/**
 * Time in milliseconds in which a token may be reused without harm, by a client that refreshed twice in parallel or
 * lost the response.
 */
const reuseGrace = 10_000;
const day = 24 * 60 * 60 * 1000;

export const sessionEnd = (signedInAt: Date) => new Date(signedInAt.getTime() + sessionDays * day);

/** The expiry of a token issued now, which is at most that of its session. */
export function refreshTokenExpiry(now: Date, signedInAt: Date): Date {
  return new Date(Math.min(now.getTime() + refreshTokenDays * day, sessionEnd(signedInAt).getTime()));
}

/** Whether the reuse of a token that was already exchanged suggests that it was stolen. */
export const isSuspectReuse = (exchangedAt: Date, now: Date): boolean =>
  now.getTime() - exchangedAt.getTime() > reuseGrace;

const shape = /^(rt_[0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

/** The token for its holder, and the hash that is stored. */
export interface IssuedRefreshToken {
  readonly id: string;
  readonly token: string;
  readonly hash: string;
}

export function newRefreshToken(): IssuedRefreshToken {
  const id = newId('refresh_token');
  const secret = randomBytes(32).toString('base64url');
  return { id, token: `${id}.${secret}`, hash: hashOf(secret) };
}

/** The id and hash of a well-formed refresh token. */
export function readRefreshToken(token: string): { id: string; hash: string } | undefined {
  const [, id, secret] = shape.exec(token) ?? [];
  return id && secret ? { id, hash: hashOf(secret) } : undefined;
}

/** Whether it looks like an access token, which clients send here by mistake. It is not verified. */
export function looksLikeAccessToken(token: string): boolean {
  try {
    const [header = ''] = token.split('.', 1);
    return JSON.parse(Buffer.from(header, 'base64url').toString()).typ === 'at+jwt';
  } catch {
    return false;
  }
}

/** 256 random bits need no slow hash. */
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
