import { Problem } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import { newUuid } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';
import { markAudited } from '@attribution/service';
import { type AuditRecord, audit } from '../audit/index.ts';
import type { Guesses } from '../guesses/index.ts';
import type { Notices } from '../notices/index.ts';
import { mfaTokenTtl } from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { findUser } from '../users/index.ts';
import { countAttempt, findEnrolment, lockUser, useChallenge } from './mfa.store.ts';
import type { CodeKind, MfaCodes } from './mfa-codes.ts';

/** Attempts per challenge (decision 16). `Guesses` bounds them over all challenges. */
const challengeAttempts = 5;
const challengeLifetimeMs = mfaTokenTtl.challenge * 1000;

/** `off`: the user has no MFA. `spent`: the challenge cannot be used any more. */
export type Refusal = 'off' | 'spent' | 'wrong';

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
  readonly record: Omit<AuditRecord, 'outcome' | 'details' | 'now' | 'request'> & { readonly request: RequestContext };
}

type Work<T> = (tx: Tx, kind: CodeKind, now: Date) => Promise<T>;

export interface CodeAttempts {
  /**
   * Runs the work in the transaction that spends the code. When the code is refused, records it in the audit log and
   * throws the problem that `refuse` returns. Throws `rate-limited` after too many guesses at the user's address.
   */
  make<T>(attempt: Attempt, work: Work<T>): Promise<T>;
}

export function createCodeAttempts(deps: {
  database: AccountDatabase;
  mfaCodes: MfaCodes;
  guesses: Guesses;
  notices: Notices;
  clock: Clock;
}): CodeAttempts {
  const { database, mfaCodes, guesses, notices, clock } = deps;

  async function lockMfaUser(tx: Tx, userId: string): Promise<void> {
    const user = await lockUser(tx, userId);
    if (!user) throw new Refused('off', { reason: 'user_disabled' });
    if (!user.mfa_on) throw off();
  }

  /** The count is committed before the code is checked, so that parallel guesses are all counted. */
  async function count(userId: string, challenge: Challenge): Promise<number> {
    return database.transaction(async (tx) => {
      await lockMfaUser(tx, userId);
      const counted = await countAttempt(tx, { ...challenge, userId, limit: challengeAttempts });
      if (counted === undefined) throw spent();
      return counted;
    });
  }

  async function check<T>({ userId, code, ...attempt }: Attempt, work: Work<T>, now: Date): Promise<T> {
    const challenge = attempt.challenge ?? { id: newUuid(), expiresAt: new Date(now.getTime() + challengeLifetimeMs) };
    const counted = await count(userId, challenge);
    return database.transaction(async (tx) => {
      await lockMfaUser(tx, userId);
      const enrolment = await findEnrolment(tx, userId);
      if (!enrolment) throw off();
      const kind = await mfaCodes.use(tx, enrolment, code, now);
      if (!kind) {
        const remaining = attempt.challenge && { attempts_left: challengeAttempts - counted };
        throw new Refused('wrong', { reason: 'wrong_mfa_code', ...remaining });
      }
      if (!(await useChallenge(tx, challenge.id, now))) throw spent();
      if (kind === 'recovery_code' && attempt.record.request)
        await notices.tell(tx, userId, { kind: 'recovery_code_used' }, attempt.record.request);
      return work(tx, kind, now);
    });
  }

  /** Only a wrong code is a wrong guess. A challenge that is spent compares nothing. */
  async function checkCounted<T>(attempt: Attempt, work: Work<T>, now: Date): Promise<T> {
    const user = await findUser(database.prisma, attempt.userId);
    if (!user) throw new Refused('off', { reason: 'user_disabled' });
    const guess = { what: 'code', emailKey: user.email_key, request: attempt.record.request } as const;
    let checked: { result: T } | { wrong: Refused } | undefined;
    await guesses.count(guess, async () => {
      checked = await check(attempt, work, now).then(
        (result) => ({ result }),
        (error: unknown) => {
          if (error instanceof Refused && error.why === 'wrong') return { wrong: error };
          throw error;
        },
      );
      return 'result' in checked;
    });
    if (checked && 'result' in checked) return checked.result;
    throw checked?.wrong;
  }

  return {
    async make(attempt, work) {
      const now = clock.now();
      try {
        return await checkCounted(attempt, work, now);
      } catch (error) {
        const record = (details: Details) =>
          audit(database.prisma, { ...attempt.record, outcome: 'refused', details: { ...details }, now });
        if (error instanceof Problem && error.kind === 'rate-limited') await record({ reason: 'too_many_guesses' });
        if (!(error instanceof Refused)) throw error;
        await record(error.details);
        throw markAudited(attempt.refuse(error.why));
      }
    },
  };
}

const off = () => new Refused('off', { reason: 'mfa_off' });
const spent = () => new Refused('spent', { reason: 'mfa_challenge_spent' });
