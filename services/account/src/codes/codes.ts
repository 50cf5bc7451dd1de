import type { Clock } from '@attribution/service';
import type { Hasher } from '../passwords/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { countAttempt, replaceCode, spendCode } from './code.store.ts';
import { type CodePurpose, codeGone, codeRules, emailKeyOf, newCode, refuseWrongCode, requireAttempt } from './code.ts';

/** A code that is made but not yet issued. */
export interface PreparedCode {
  readonly code: string;
  /** Makes it the live code of the address; of nobody's, where the address has no user who should get one. */
  issue(tx: Tx, userId: string | null): Promise<void>;
}

export interface Codes {
  /** Makes and hashes a code: slow, so before a transaction. */
  prepare(purpose: CodePurpose, email: string): Promise<PreparedCode>;
  /** Counts an attempt and compares. Throws `validation-error` or `gone`. */
  check(purpose: CodePurpose, email: string, code: string): Promise<MatchingCode>;
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
      requireAttempt(live, now);
      const matches = await hasher.verifyCode(code, boundTo(purpose, emailKey), live.code_hash);
      const { user_id: userId, code_hash: codeHash } = live;
      if (!matches || userId === null) throw refuseWrongCode(live);
      return {
        userId,
        async spend(tx) {
          if (!(await spendCode(tx, { purpose, emailKey, codeHash, now }))) throw codeGone();
        },
      };
    },
  };
}
