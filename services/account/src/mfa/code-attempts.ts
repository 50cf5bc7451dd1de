import { newUuid, type Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/service';
import { audit, type Deed } from '../audit/index.ts';
import { mfaTokenTtl } from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { attemptsSince, countAttempt, findEnrolment, lockUser, useChallenge } from './mfa.store.ts';
import type { CodeKind, MfaCodes } from './mfa-codes.ts';

/** Of one challenge (decision 16), and of one user in a while: whoever knows the password can ask for more challenges. */
const limits = { challenge: 5, user: 20 };
/** Milliseconds: of a challenge, and of that while, which begins when the challenge does. */
const lifetime = mfaTokenTtl.challenge * 1000;
const window = 15 * 60 * 1000;

/** `off`: the user has no MFA. `spent`: the challenge is. `exhausted`: the user's attempts are, for the time being. */
export type Refusal = 'off' | 'spent' | 'exhausted' | 'wrong';

interface Challenge {
  readonly id: string;
  readonly expiresAt: Date;
}

interface Attempt {
  /** The challenge; absent: the code is asked for without one, which makes a challenge of this attempt alone. */
  readonly challenge?: Challenge;
  readonly userId: string;
  readonly code: string;
  readonly refuse: (why: Refusal) => Problem;
  /** What the log is told of a wrong code. */
  readonly deed: Omit<Deed, 'outcome' | 'details' | 'now'>;
}

export interface CodeAttempts {
  /** Does the work in the transaction that spends the code. Throws what `refuse` makes of a refusal. */
  make<T>(attempt: Attempt, work: (tx: Tx, kind: CodeKind, now: Date) => Promise<T>): Promise<T>;
}

export function createCodeAttempts(parts: {
  database: AccountDatabase;
  mfaCodes: MfaCodes;
  clock: Clock;
}): CodeAttempts {
  const { database, mfaCodes, clock } = parts;

  /** Counts first, for good: parallel guesses are all counted before any is judged. */
  async function count({ userId, refuse }: Attempt, challenge: Challenge, now: Date): Promise<number> {
    return database.transaction(async (tx) => {
      if (!(await lockUser(tx, userId))?.mfa_on) throw refuse('off');
      const since = new Date(now.getTime() - window + lifetime);
      if ((await attemptsSince(tx, userId, since)) >= limits.user) throw refuse('exhausted');
      const counted = await countAttempt(tx, { ...challenge, userId, limit: limits.challenge });
      if (counted === undefined) throw refuse('spent');
      return counted;
    });
  }

  return {
    async make(attempt, work) {
      const { userId, code, refuse, deed } = attempt;
      const now = clock.now();
      const challenge = attempt.challenge ?? { id: newUuid(), expiresAt: new Date(now.getTime() + lifetime) };
      const counted = await count(attempt, challenge, now);
      const outcome = await database.transaction(async (tx) => {
        const enrolment = (await lockUser(tx, userId))?.mfa_on ? await findEnrolment(tx, userId) : null;
        if (!enrolment) throw refuse('off');
        const kind = await mfaCodes.use(tx, enrolment, code, now);
        if (!kind) return undefined;
        if (!(await useChallenge(tx, challenge.id, now))) throw refuse('spent');
        return { result: await work(tx, kind, now) };
      });
      if (outcome) return outcome.result;
      const left = attempt.challenge && { attempts_left: limits.challenge - counted };
      const details = { reason: 'wrong_mfa_code', ...left };
      await audit(database.prisma, { ...deed, outcome: 'refused', details, now });
      throw refuse('wrong');
    },
  };
}
