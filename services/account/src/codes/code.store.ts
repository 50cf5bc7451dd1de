import type { Forgettable } from '@attribution/service';
import type { AccountDatabase, Tx } from '../store.ts';
import type { CodePurpose, LiveCode } from './code.ts';

export interface NewCode {
  readonly purpose: CodePurpose;
  readonly emailKey: string;
  readonly userId: string | null;
  readonly codeHash: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

/** Replaces the previous code, which is no longer valid. */
export async function replaceCode(tx: Tx, code: NewCode): Promise<void> {
  const { purpose, emailKey: email_key } = code;
  const state = {
    user_id: code.userId,
    code_hash: code.codeHash,
    attempts: 0,
    expires_at: code.expiresAt,
    used_at: null,
    created_at: code.now,
  };
  await tx.emailCode.upsert({
    where: { purpose_email_key: { purpose, email_key } },
    create: { purpose, email_key, ...state },
    update: state,
  });
}

export interface CodeRow extends LiveCode {
  readonly user_id: string | null;
  readonly code_hash: string;
}

/**
 * Counts an attempt, commits it at once and returns the code. For an address without a code it inserts a decoy that
 * nothing matches, so that attempts are counted and exhausted for unknown addresses too. The first attempt after a
 * code was used restarts attempts and expiry, so that the address then behaves like one without a code.
 */
export async function countAttempt(database: AccountDatabase, decoy: NewCode): Promise<CodeRow> {
  const [row] = await database.prisma.$queryRaw<CodeRow[]>`
    INSERT INTO email_codes (purpose, email_key, user_id, code_hash, attempts, expires_at, created_at)
    VALUES (${decoy.purpose}::"CodePurpose", ${decoy.emailKey}, NULL, ${decoy.codeHash}, 1, ${decoy.expiresAt}, ${decoy.now})
    ON CONFLICT (purpose, email_key) DO UPDATE SET
      attempts = LEAST(email_codes.attempts + 1, 1000),
      expires_at = CASE WHEN email_codes.used_at IS NOT NULL AND email_codes.attempts = 0
        THEN excluded.expires_at ELSE email_codes.expires_at END
    RETURNING user_id, code_hash, attempts, expires_at, used_at`;
  if (!row) throw new Error('An upsert returned no row');
  return row;
}

/** Marks the code as used and resets its attempts. Returns false when it was used or replaced in the meantime. */
export async function spendCode(
  tx: Tx,
  spent: { purpose: CodePurpose; emailKey: string; codeHash: string; now: Date },
): Promise<boolean> {
  const { count } = await tx.emailCode.updateMany({
    where: { purpose: spent.purpose, email_key: spent.emailKey, code_hash: spent.codeHash, used_at: null },
    data: { used_at: spent.now, attempts: 0 },
  });
  return count === 1;
}

export const expiredCodes = { table: 'email_codes', condition: 'expires_at < $1' } satisfies Forgettable;

/** Deletes all codes that were sent to a user, so that none of them can be used any more. */
export async function deleteCodesOf(tx: Pick<Tx, 'emailCode'>, userId: string): Promise<void> {
  await tx.emailCode.deleteMany({ where: { user_id: userId } });
}
