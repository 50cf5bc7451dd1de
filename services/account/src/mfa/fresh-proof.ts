import { Problem } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { markAudited } from '@attribution/service';
import { type AuditRecord, audit } from '../audit/index.ts';
import type { Guesses } from '../guesses/index.ts';
import { type Hasher, partiesOf } from '../passwords/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { findUser } from '../users/index.ts';
import type { CodeAttempts, Refusal } from './code-attempts.ts';
import { lockUser } from './mfa.store.ts';

/** Minutes for which a sign-in needs no other proof. */
const minutes = 10;

type User = NonNullable<Awaited<ReturnType<typeof findUser>>>;

interface Decided {
  /** When the caller signed in. */
  readonly signedInAt: Date | 'now';
}

interface Act<D extends Decided> {
  readonly userId: string;
  /** What the request gives as proof. A code is taken before a password. */
  readonly given: { readonly password?: string | undefined; readonly code?: string | undefined } | undefined;
  /** The audit record of a refusal. */
  readonly record: Omit<AuditRecord, 'outcome' | 'details' | 'now' | 'request'> & { readonly request: RequestContext };
  /** Locks what the act depends on. Throws whatever can be refused without a proof, before a slow hash is spent on it. */
  readonly decide: (tx: Tx) => Promise<D>;
}

/**
 * A stolen access token must not be enough to lock its owner out (decision 47). This is the one place that decides what
 * is: the password, a code where MFA is on, or a session whose user signed in lately.
 */
export interface FreshProof {
  /** Runs the work in the transaction in which the proof holds. Throws `forbidden` without a proof. */
  require<D extends Decided, T>(act: Act<D>, work: (tx: Tx, decided: D) => Promise<T>): Promise<T>;
}

export function createFreshProof(deps: {
  database: AccountDatabase;
  hasher: Hasher;
  guesses: Guesses;
  codeAttempts: CodeAttempts;
  clock: Clock;
}): FreshProof {
  const { database, hasher, guesses, codeAttempts, clock } = deps;

  async function refused({ record }: Pick<Act<Decided>, 'record'>, reason: string, detail: string): Promise<Problem> {
    await audit(database.prisma, { ...record, outcome: 'refused', details: { reason }, now: clock.now() });
    return markAudited(new Problem('forbidden', detail));
  }

  const isRecent = ({ signedInAt }: Decided): boolean =>
    signedInAt === 'now' || clock.now().getTime() - signedInAt.getTime() < minutes * 60_000;

  /** A wrong one counts as a guess at the user's address. */
  async function isRight(
    password: string,
    user: User,
    { request, accountId }: Act<Decided>['record'],
  ): Promise<boolean> {
    const { id: userId, email_key: emailKey, password_hash: hash } = user;
    const guess = { what: 'password', emailKey, request } as const;
    await guesses.requireBudget(guess);
    const parties = partiesOf({ request, userId, emailKey, ...(accountId && { accountId }) });
    return hasher.verifyPassword(password, hash, parties, (compare) => guesses.count(guess, compare));
  }

  return {
    async require(act, work) {
      const { userId, given: { password, code } = {}, record, decide } = act;
      const proceed = async (tx: Tx) => ({ result: await work(tx, await decide(tx)) });

      if (code !== undefined) {
        await database.transaction(decide);
        return (await codeAttempts.make({ userId, code, refuse, record }, proceed)).result;
      }
      if (password !== undefined) {
        await database.transaction(decide);
        const checked = await findUser(database.prisma, userId);
        if (!checked || !(await isRight(password, checked, record)))
          throw await refused(act, 'wrong_password', 'body.password: is not your password.');
        const done = await database.transaction(async (tx) => {
          // The hash took long enough for a concurrent request to change the password.
          const user = await lockUser(tx, userId);
          return user?.password_hash === checked.password_hash ? proceed(tx) : undefined;
        });
        if (!done) throw await refused(act, 'password_changed', 'body.password: was changed in the meantime.');
        return done.result;
      }
      const done = await database.transaction(async (tx) => {
        const decided = await decide(tx);
        return isRecent(decided) ? { result: await work(tx, decided) } : undefined;
      });
      if (!done) throw await refused(act, 'no_fresh_proof', unproven);
      return done.result;
    },
  };
}

const unproven = `Prove that it is you: send your password, or a code where MFA is on, or log in again. This session was signed in more than ${minutes} minutes ago.`;

function refuse(why: Refusal): Problem {
  if (why === 'off') return new Problem('forbidden', 'body.code: MFA is not on. Send your password.');
  return new Problem('forbidden', 'body.code: is wrong, or was used before.');
}
