import type { Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/service';
import { audit, type Deed } from '../audit/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { attemptsSince, countAttempt, findEnrolment, lockUser, useChallenge } from './mfa.store.ts';
import type { CodeKind, MfaCodes } from './mfa-codes.ts';

/** Of one challenge (decision 16), and of one user in a while: whoever knows the password can ask for more challenges. */
const limits = { challenge: 5, user: 20 };
const window = 15 * 60 * 1000;

/** `off`: the user has no MFA. `spent`: the challenge is. `exhausted`: the user's attempts are, for the time being. */
export type Refusal = 'off' | 'spent' | 'exhausted' | 'wrong';

interface Attempt {
  /** The challenge; a code asked for without one is a challenge by itself. */
  readonly id: string;
  readonly expiresAt: Date;
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
  async function count({ id, userId, expiresAt, refuse }: Attempt, now: Date): Promise<number> {
    return database.transaction(async (tx) => {
      if (!(await lockUser(tx, userId))?.mfa_on) throw refuse('off');
      const since = new Date(now.getTime() - window);
      if ((await attemptsSince(tx, userId, since)) >= limits.user) throw refuse('exhausted');
      const counted = await countAttempt(tx, { id, userId, expiresAt, limit: limits.challenge });
      if (counted === undefined) throw refuse('spent');
      return counted;
    });
  }

  return {
    async make(attempt, work) {
      const { id, userId, code, refuse, deed } = attempt;
      const now = clock.now();
      const counted = await count(attempt, now);
      const outcome = await database.transaction(async (tx) => {
        const enrolment = (await lockUser(tx, userId))?.mfa_on ? await findEnrolment(tx, userId) : null;
        if (!enrolment) throw refuse('off');
        const kind = await mfaCodes.use(tx, enrolment, code, now);
        if (!kind) return undefined;
        if (!(await useChallenge(tx, id, now))) throw refuse('spent');
        return { result: await work(tx, kind, now) };
      });
      if (outcome) return outcome.result;
      const details = { reason: 'wrong_mfa_code', attempts_left: limits.challenge - counted };
      await audit(database.prisma, { ...deed, outcome: 'refused', details, now });
      throw refuse('wrong');
    },
  };
}
