import { createHmac } from 'node:crypto';
import { networkOf } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { guessesMail, type MailQueue } from '../mail/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import {
  claimTelling,
  countGuess,
  findBlock,
  findPerson,
  forgetGuesses,
  type Marks,
  noteSignIn,
  uncountGuess,
} from './guess.store.ts';
import { guessRules, tooManyGuesses } from './guess-rules.ts';

/** A try at a password or code of an e-mail address. */
export interface Guess {
  readonly what: 'password' | 'code';
  readonly emailKey: string;
  readonly request: { readonly ip: string };
}

type Compare = () => Promise<boolean>;

/**
 * Bounds the guesses at an address, over all its codes and all clients (decision 46). It sends the same statements for an
 * address that a user has and for an unknown one.
 */
export interface Guesses {
  /** Throws `rate-limited` while the budget is used up: before anything slow is done, or anything else counted. */
  requireBudget(guess: Guess): Promise<void>;
  /**
   * Compares a password or code and returns whether it is right. It counts unless it is right or `compare` throws. Throws
   * `rate-limited` when other guesses have used up the budget meanwhile. After too many wrong passwords in a row it
   * returns false for a right one as well.
   */
  count(guess: Guess, compare: Compare): Promise<boolean>;
  /** Gives the client of a sign-in a budget of its own. */
  noteSignIn(tx: Tx, emailKey: string, request: Guess['request']): Promise<void>;
  /** After a password reset. */
  forget(tx: Tx, emailKey: string): Promise<void>;
}

export function createGuesses(deps: {
  database: AccountDatabase;
  mail: MailQueue;
  clock: Clock;
  pepper: string;
}): Guesses {
  const { database, mail, clock } = deps;
  const key = createHmac('sha256', deps.pepper).update('guesses at addresses').digest();
  const mark = (kind: 'address' | 'network', value: string) =>
    createHmac('sha256', key).update(`${kind} ${value}`).digest('base64url');
  const marksOf = (emailKey: string, { ip }: Guess['request']): Marks => ({
    address: mark('address', emailKey),
    network: mark('network', networkOf(ip)),
  });

  /** The message to an unknown address is made as well, and dropped, because making it takes time. */
  async function tellOnce(marks: Marks, emailKey: string): Promise<void> {
    await database.transaction(async (tx) => {
      if (!(await claimTelling(tx, marks, clock.now()))) return;
      const user = await findPerson(tx, emailKey);
      const message = guessesMail({ to: user?.email ?? emailKey, fullName: user?.full_name ?? emailKey });
      await mail.enqueue(tx, message, { drop: !user });
    });
  }

  return {
    async requireBudget({ emailKey, request }) {
      const now = clock.now();
      const until = await findBlock(database.prisma, marksOf(emailKey, request), now);
      if (until) throw tooManyGuesses(until, now);
    },

    async count({ what, emailKey, request }, compare) {
      const marks = marksOf(emailKey, request);
      const now = clock.now();
      const counted = await countGuess(database.prisma, marks, what === 'password', now);
      if (!counted) {
        const until = await findBlock(database.prisma, marks, now);
        throw tooManyGuesses(until ?? now, now);
      }
      const matches = await compare().catch(async (error: unknown) => {
        await uncountGuess(database.prisma, marks, counted, 'nothing');
        throw error;
      });
      const locked =
        what === 'password' && counted.network_mark === '' && counted.wrong_passwords > guessRules.wrongPasswords;
      if (matches && !locked) {
        await uncountGuess(database.prisma, marks, counted, what);
        return true;
      }
      if (counted.wrong >= guessRules.wrong) await tellOnce(marks, emailKey);
      return false;
    },

    noteSignIn: (tx, emailKey, request) => noteSignIn(tx, marksOf(emailKey, request), clock.now()),
    forget: (tx, emailKey) => forgetGuesses(tx, mark('address', emailKey)),
  };
}
