import type { Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import type { Hasher } from '../passwords/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { countAttempt, replaceCode, spendCode } from './code.store.ts';
import { type CodePurpose, codeGone, codeRules, emailKeyOf, isDead, newCode, refuseWrongCode } from './code.ts';

/** A code that is made but not yet issued. */
export interface PreparedCode {
  readonly code: string;
  /** Makes it the live code of the address; of nobody's, where the address has no user who should get one. */
  issue(tx: Tx, userId: string | null): Promise<void>;
}

export interface Codes {
  /** Makes and hashes a code: slow, so before a transaction. */
  prepare(purpose: CodePurpose, email: string): Promise<PreparedCode>;
  /** Counts an attempt and compares. */
  check(purpose: CodePurpose, email: string, code: string): Promise<MatchingCode | RefusedCode>;
}

/** A code that did not match, or is dead: `validation-error` or `gone`. */
interface RefusedCode {
  readonly refusal: Problem;
  readonly reason: 'wrong_code' | 'dead_code';
  /** Whose code it was; null: nobody's. */
  readonly userId: string | null;
}

/** A code that matched and is still to be spent. */
export interface MatchingCode {
  readonly userId: string;
  /** Spends it in the transaction of what it allows. Throws `gone` when another was faster. */
  spend(tx: Tx): Promise<void>;
}

export function createCodes({
  database,
  hasher,
  clock,
}: {
  database: AccountDatabase;
  hasher: Hasher;
  clock: Clock;
}): Codes {
  const boundTo = (purpose: CodePurpose, emailKey: string) => `${purpose}\n${emailKey}`;
  const expiry = (now: Date) => new Date(now.getTime() + codeRules.minutes * 60_000);
  // What unknown addresses are compared with: no code hashes to it.
  const decoyHash = hasher.hashCode('no code', 'nobody');

  return {
    async prepare(purpose, email) {
      const emailKey = emailKeyOf(email);
      const code = newCode();
      const codeHash = await hasher.hashCode(code, boundTo(purpose, emailKey));
      return {
        code,
        async issue(tx, userId) {
          const now = clock.now();
          await replaceCode(tx, { purpose, emailKey, userId, codeHash, now, expiresAt: expiry(now) });
        },
      };
    },

    async check(purpose, email, code) {
      const emailKey = emailKeyOf(email);
      const now = clock.now();
      const decoy = { purpose, emailKey, userId: null, codeHash: await decoyHash, now, expiresAt: expiry(now) };
      const live = await countAttempt(database, decoy);
      const { user_id: userId, code_hash: codeHash } = live;
      if (isDead(live, now)) return { refusal: codeGone(), reason: 'dead_code', userId };
      const matches = await hasher.verifyCode(code, boundTo(purpose, emailKey), codeHash);
      // A used code is gone, to itself alone: any other answers as for an address that never had one.
      if (matches && live.used_at) return { refusal: codeGone(), reason: 'dead_code', userId };
      if (!matches || userId === null) return { refusal: refuseWrongCode(live), reason: 'wrong_code', userId };
      return {
        userId,
        async spend(tx) {
          if (!(await spendCode(tx, { purpose, emailKey, codeHash, now }))) throw codeGone();
        },
      };
    },
  };
}
