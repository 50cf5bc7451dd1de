import type { Problem } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';
import { type AuditRecord, audit } from '../audit/index.ts';
import { mfaTokenTtl } from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { attemptsSince, countAttempt, findEnrolment, lockUser, useChallenge } from './mfa.store.ts';
import type { CodeKind, MfaCodes } from './mfa-codes.ts';

/**
 * Attempts per challenge (decision 16), and per user within a window, because a caller who knows the password can
 * request more challenges.
 */
const limits = { challenge: 5, user: 20 };
const challengeLifetimeMs = mfaTokenTtl.challenge * 1000;
/** A challenge counts for this long after it was issued. */
const windowMs = 15 * 60 * 1000;

/**
 * `off`: the user has no MFA. `spent`: the challenge cannot be used any more. `exhausted`: the user has no attempts
 * left for now.
 */
export type Refusal = 'off' | 'spent' | 'exhausted' | 'wrong';

interface Details {
  /** The exact reason, which the response does not reveal. */
  readonly reason: string;
  readonly attempts_left?: number;
}

/** Thrown to roll back the transaction; the refusal is recorded in the audit log afterwards. */
class Refused extends Error {
  readonly why: Refusal;
  readonly details: Details;

  constructor(why: Refusal, details: Details) {
    super(details.reason);
    this.why = why;
    this.details = details;
  }
}

interface Challenge {
  readonly id: string;
  readonly expiresAt: Date;
}

interface Attempt {
  /** Absent when a code is requested without a challenge; the attempt then gets a challenge of its own. */
  readonly challenge?: Challenge;
  readonly userId: string;
  readonly code: string;
  readonly refuse: (why: Refusal) => Problem;
  /** The audit record of a refusal. */
  readonly record: Omit<AuditRecord, 'outcome' | 'details' | 'now'>;
}

type Work<T> = (tx: Tx, kind: CodeKind, now: Date) => Promise<T>;

export interface CodeAttempts {
  /**
   * Runs the work in the transaction that spends the code. When the code is refused, records it in the audit log and
   * throws the problem that `refuse` returns.
   */
  make<T>(attempt: Attempt, work: Work<T>): Promise<T>;
}

export function createCodeAttempts(deps: {
  database: AccountDatabase;
  mfaCodes: MfaCodes;
  clock: Clock;
}): CodeAttempts {
  const { database, mfaCodes, clock } = deps;

  async function lockMfaUser(tx: Tx, userId: string): Promise<void> {
    const user = await lockUser(tx, userId);
    if (!user) throw new Refused('off', { reason: 'user_disabled' });
    if (!user.mfa_on) throw off();
  }

  /** The count is committed before the code is checked, so that parallel guesses are all counted. */
  async function count(userId: string, challenge: Challenge, now: Date): Promise<number> {
    return database.transaction(async (tx) => {
      await lockMfaUser(tx, userId);
      const since = new Date(now.getTime() - windowMs + challengeLifetimeMs);
      if ((await attemptsSince(tx, userId, since)) >= limits.user)
        throw new Refused('exhausted', { reason: 'mfa_attempts_exhausted' });
      const counted = await countAttempt(tx, { ...challenge, userId, limit: limits.challenge });
      if (counted === undefined) throw spent();
      return counted;
    });
  }

  async function check<T>({ userId, code, ...attempt }: Attempt, work: Work<T>, now: Date): Promise<T> {
    const challenge = attempt.challenge ?? { id: newUuid(), expiresAt: new Date(now.getTime() + challengeLifetimeMs) };
    const counted = await count(userId, challenge, now);
    return database.transaction(async (tx) => {
      await lockMfaUser(tx, userId);
      const enrolment = await findEnrolment(tx, userId);
      if (!enrolment) throw off();
      const kind = await mfaCodes.use(tx, enrolment, code, now);
      if (!kind) {
        const remaining = attempt.challenge && { attempts_left: limits.challenge - counted };
        throw new Refused('wrong', { reason: 'wrong_mfa_code', ...remaining });
      }
      if (!(await useChallenge(tx, challenge.id, now))) throw spent();
      return work(tx, kind, now);
    });
  }

  return {
    async make(attempt, work) {
      const now = clock.now();
      try {
        return await check(attempt, work, now);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        await audit(database.prisma, { ...attempt.record, outcome: 'refused', details: { ...error.details }, now });
        throw attempt.refuse(error.why);
      }
    },
  };
}

const off = () => new Refused('off', { reason: 'mfa_off' });
const spent = () => new Refused('spent', { reason: 'mfa_challenge_spent' });
