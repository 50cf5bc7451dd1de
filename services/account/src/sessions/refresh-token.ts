import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '@attribution/ids';

/** Days a refresh token lives (decision 10). */
export const refreshTokenDays = 30;

const shape = /^(rt_[0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

/** The token as its holder keeps it, and what is kept of it here. */
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

/** The id and hash of what looks like a refresh token. */
export function readRefreshToken(token: string): { id: string; hash: string } | undefined {
  const [, id, secret] = shape.exec(token) ?? [];
  return id && secret ? { id, hash: hashOf(secret) } : undefined;
}

/** 256 random bits need no slow hash. */
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex');

export function sameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
