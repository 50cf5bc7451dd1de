import type { Forgettable } from '@attribution/service';
import type { Tx } from '../store.ts';

interface LockedUser {
  readonly email: string;
  readonly mfa_on: boolean;
  readonly password_hash: string;
}

/**
 * Locks the user, so that decisions on enrolment hold until the commit. Returns undefined when the user is deleted or
 * disabled.
 */
export async function lockUser(tx: Tx, userId: string): Promise<LockedUser | undefined> {
  const [user] = await tx.$queryRaw<LockedUser[]>`
    SELECT email, mfa_enabled_at IS NOT NULL AS mfa_on, password_hash FROM users
    WHERE id = ${userId} AND disabled_at IS NULL FOR NO KEY UPDATE`;
  return user;
}

export async function findEnrolment(tx: Tx, userId: string) {
  return tx.mfaEnrolment.findUnique({ where: { user_id: userId } });
}

/** Stores a new unconfirmed secret, which replaces any previous one. */
export async function putEnrolment(tx: Tx, userId: string, secret: Uint8Array<ArrayBuffer>, now: Date): Promise<void> {
  const fresh = { secret, confirmed_at: null, last_step: 0n, created_at: now };
  await tx.mfaEnrolment.upsert({ where: { user_id: userId }, create: { user_id: userId, ...fresh }, update: fresh });
}

/** Turns MFA on. */
export async function confirmEnrolment(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx.mfaEnrolment.update({ where: { user_id: userId }, data: { confirmed_at: now } });
  await tx.user.update({ where: { id: userId }, data: { mfa_enabled_at: now, updated_at: now } });
}

/** Turns MFA off and returns the user. */
export async function deleteEnrolment(tx: Tx, userId: string, now: Date) {
  await tx.mfaEnrolment.delete({ where: { user_id: userId } });
  await tx.mfaRecoveryCode.deleteMany({ where: { user_id: userId } });
  return tx.user.update({ where: { id: userId }, data: { mfa_enabled_at: null, updated_at: now } });
}

/** Returns false when this time step, or a later one, was accepted before. */
export async function acceptStep(tx: Tx, userId: string, step: number): Promise<boolean> {
  const accepted = await tx.mfaEnrolment.updateMany({
    where: { user_id: userId, last_step: { lt: BigInt(step) } },
    data: { last_step: BigInt(step) },
  });
  return accepted.count === 1;
}

export async function putRecoveryCodes(tx: Tx, userId: string, hashes: readonly string[]): Promise<void> {
  await tx.mfaRecoveryCode.deleteMany({ where: { user_id: userId } });
  await tx.mfaRecoveryCode.createMany({ data: hashes.map((code_hash) => ({ user_id: userId, code_hash })) });
}

/** Returns false when the code does not exist or was used before. */
export async function useRecoveryCode(tx: Tx, userId: string, hash: string, now: Date): Promise<boolean> {
  const used = await tx.mfaRecoveryCode.updateMany({
    where: { user_id: userId, code_hash: hash, used_at: null },
    data: { used_at: now },
  });
  return used.count === 1;
}

export interface Attempt {
  /** The `jti` of the challenge's token. */
  readonly id: string;
  readonly userId: string;
  readonly expiresAt: Date;
  readonly limit: number;
}

/**
 * Counts an attempt before the code is checked, and returns the number of attempts. Returns undefined when the
 * challenge is used or has no attempts left.
 */
export async function countAttempt(tx: Tx, { id, userId, expiresAt, limit }: Attempt): Promise<number | undefined> {
  const [counted] = await tx.$queryRaw<{ attempts: number }[]>`
    INSERT INTO mfa_challenges AS c (id, user_id, attempts, expires_at)
    VALUES (${id}::uuid, ${userId}, 1, ${expiresAt})
    ON CONFLICT (id) DO UPDATE SET attempts = c.attempts + 1 WHERE c.attempts < ${limit} AND c.used_at IS NULL
    RETURNING attempts`;
  return counted?.attempts;
}

/** Returns false when a concurrent attempt has used the challenge. */
export async function useChallenge(tx: Tx, challengeId: string, now: Date): Promise<boolean> {
  const used = await tx.mfaChallenge.updateMany({ where: { id: challengeId, used_at: null }, data: { used_at: now } });
  return used.count === 1;
}

export const expiredChallenges = { table: 'mfa_challenges', condition: 'expires_at < $1' } satisfies Forgettable;
