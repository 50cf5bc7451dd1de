import { Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import type { Hasher } from '../passwords/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser, replacePassword } from '../users/index.ts';

/**
 * Replaces a hash of an old pepper or cost, for which a sign-in is the only time: the password is at hand. Where hashing
 * is too busy, the next sign-in does it.
 */
export async function renewHash<T extends { readonly id: string; readonly password_hash: string }>(
  { database, hasher, clock }: { database: AccountDatabase; hasher: Hasher; clock: Clock },
  user: T,
  password: string,
  parties: readonly string[],
): Promise<T> {
  if (hasher.isCurrent(user.password_hash)) return user;
  try {
    const renewed = await hasher.hashPassword(password, parties);
    const replaced = await replacePassword(database.prisma, user, renewed, clock.now());
    if (replaced) return { ...user, password_hash: renewed };
    // Either a sign-in at the same moment renewed it, or it is another password now, which the caller finds out.
    const now = await findUser(database.prisma, user.id);
    const same = now && (await hasher.verifyPassword(password, now.password_hash, parties));
    return same ? { ...user, password_hash: now.password_hash } : user;
  } catch (error) {
    if (error instanceof Problem && error.kind === 'unavailable') return user;
    throw error;
  }
}
