import type { Problem } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import type { Guesses } from '../guesses/index.ts';
import { countCode, requireCodeBudget } from '../mail/index.ts';
import { type Hasher, partiesOf } from '../passwords/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { countAttempt, replaceCode, spendCode } from './code.store.ts';
import { type CodePurpose, codeGone, codeRules, emailKeyOf, isDead, newCode, refuseWrongCode } from './code.ts';

/** A code that was generated but not yet issued. */
export interface PreparedCode {
  readonly code: string;
  /**
   * Makes it the current code of the address. `userId` is null when the address has no user who should get a code. Throws
   * `rate-limited` when too many were sent there.
   */
  issue(tx: Tx, userId: string | null): Promise<void>;
}

export interface Codes {
  /** Generates and hashes a code. Hashing is slow, so call it before the transaction. Throws `rate-limited` as well. */
  prepare(purpose: CodePurpose, email: string, request: RequestContext): Promise<PreparedCode>;
  /** Counts an attempt and compares the code. Throws `rate-limited` after too many guesses at the address. */
  check(
    purpose: CodePurpose,
    email: string,
    code: string,
    request: RequestContext,
  ): Promise<MatchingCode | RefusedCode>;
}

/** The result for a code that did not match, or is no longer valid: `validation-error` or `gone`. */
interface RefusedCode {
  readonly refusal: Problem;
  readonly reason: 'wrong_code' | 'dead_code';
  /** The user of the code; null for an address without a user. */
  readonly userId: string | null;
}

/** A code that matched and must still be spent. */
export interface MatchingCode {
  readonly userId: string;
  /**
   * Spends the code in the transaction of the action that it permits. Throws `gone` when a concurrent request has
   * spent it.
   */
  spend(tx: Tx): Promise<void>;
}

export function createCodes({
  database,
  hasher,
  guesses,
  clock,
}: {
  database: AccountDatabase;
  hasher: Hasher;
  guesses: Guesses;
  clock: Clock;
}): Codes {
  const boundTo = (purpose: CodePurpose, emailKey: string) => `${purpose}\n${emailKey}`;
  const expiry = (now: Date) => new Date(now.getTime() + codeRules.minutes * 60_000);

  return {
    async prepare(purpose, email, request) {
      const emailKey = emailKeyOf(email);
      await requireCodeBudget(database.prisma, emailKey, clock.now());
      const code = newCode();
      const codeHash = await hasher.hashCode(code, boundTo(purpose, emailKey), partiesOf({ request, emailKey }));
      return {
        code,
        async issue(tx, userId) {
          const now = clock.now();
          await countCode(tx, emailKey, now);
          await replaceCode(tx, { purpose, emailKey, userId, codeHash, now, expiresAt: expiry(now) });
        },
      };
    },

    async check(purpose, email, code, request) {
      const emailKey = emailKeyOf(email);
      const guess = { what: 'code', emailKey, request } as const;
      await guesses.requireBudget(guess);
      const now = clock.now();
      const decoy = {
        purpose,
        emailKey,
        userId: null,
        codeHash: await hasher.decoyCodeHash,
        now,
        expiresAt: expiry(now),
      };
      const live = await countAttempt(database, decoy);
      const { user_id: userId, code_hash: codeHash } = live;
      if (isDead(live, now)) return { refusal: codeGone(), reason: 'dead_code', userId };
      const parties = partiesOf({ request, emailKey });
      const matches = await hasher.verifyCode(code, boundTo(purpose, emailKey), codeHash, parties, (compare) =>
        guesses.count(guess, async () => (await compare()) && userId !== null),
      );
      // Only the used code itself gets `gone`. Any other code gets the response of an address that never had a code.
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
