import type { Forgettable } from '@attribution/service';
import type { Tx } from '../store.ts';
import { guessRules } from './guess-rules.ts';

type Queries = Pick<Tx, '$queryRaw'>;

/** Whose guesses at what: keyed hashes of the e-mail address and of the client's address. */
export interface Marks {
  readonly address: string;
  readonly network: string;
}

/** The budget of all clients from which the person has not signed in lately. */
const strangers = '';

const ago = (now: Date, ms: number) => new Date(now.getTime() - ms);
const after = (now: Date, ms: number) => new Date(now.getTime() + ms);

/** The end of the block, if the client's budget is blocked now. */
export async function findBlock(tx: Queries, { address, network }: Marks, now: Date): Promise<Date | undefined> {
  const [budget] = await tx.$queryRaw<{ blocked_until: Date | null }[]>`
    SELECT blocked_until FROM guess_budgets
    WHERE address_mark = ${address} AND (network_mark = ${strangers}
      OR (network_mark = ${network} AND signed_in_at > ${ago(now, guessRules.knownClientMs)}))
    ORDER BY network_mark DESC LIMIT 1`;
  const until = budget?.blocked_until;
  return until && until > now ? until : undefined;
}

export interface Counted {
  readonly network_mark: string;
  readonly wrong: number;
  readonly wrong_passwords: number;
}

/**
 * Counts a guess as wrong before it is compared, so that of any number at once no more than the budget are compared.
 * Returns undefined when the budget is blocked.
 */
export async function countGuess(
  tx: Queries,
  { address, network }: Marks,
  isPassword: boolean,
  now: Date,
): Promise<Counted | undefined> {
  const { wrong: limit, hourMs, firstBlockMs, longestBlockMs, knownClientMs } = guessRules;
  const hourEnd = after(now, hourMs);
  const password = isPassword ? 1 : 0;
  const [counted] = await tx.$queryRaw<Counted[]>`
    INSERT INTO guess_budgets AS b (address_mark, network_mark, wrong, hour_ends_at, wrong_passwords, touched_at)
    VALUES (${address}, coalesce((
      SELECT network_mark FROM guess_budgets
      WHERE address_mark = ${address} AND network_mark = ${network} AND signed_in_at > ${ago(now, knownClientMs)}
    ), ${strangers}), 1, ${hourEnd}, ${password}::int, ${now})
    ON CONFLICT (address_mark, network_mark) DO UPDATE SET
      wrong = CASE WHEN b.hour_ends_at > ${now} THEN b.wrong + 1 ELSE 1 END,
      -- Beyond the limit it takes an hour without wrong guesses to begin anew.
      hour_ends_at = CASE WHEN b.hour_ends_at > ${now} AND b.wrong + 1 < ${limit}::int
        THEN b.hour_ends_at ELSE ${hourEnd}::timestamptz END,
      blocked_until = CASE WHEN b.hour_ends_at > ${now} AND b.wrong + 1 >= ${limit}::int
        THEN ${now}::timestamptz + interval '1 millisecond'
          * least(${longestBlockMs}::int, ${firstBlockMs}::int * power(2, least(b.wrong + 1 - ${limit}::int, 10))) END,
      wrong_passwords = b.wrong_passwords + ${password}::int,
      touched_at = ${now}
    WHERE b.blocked_until IS NULL OR b.blocked_until <= ${now}
    RETURNING network_mark, wrong, wrong_passwords`;
  return counted;
}

/** Takes back the count of a guess that was right. A right password ends the row of wrong ones. */
export async function uncountGuess(
  tx: Pick<Tx, '$executeRaw'>,
  { address }: Marks,
  { network_mark }: Counted,
  right: 'password' | 'code' | 'nothing',
): Promise<void> {
  await tx.$executeRaw`
    UPDATE guess_budgets SET wrong = greatest(wrong - 1, 0), blocked_until = NULL,
      wrong_passwords = CASE WHEN ${right} = 'password' THEN 0 ELSE wrong_passwords END
    WHERE address_mark = ${address} AND network_mark = ${network_mark}`;
}

/** Records a sign-in from the client, which gives it a budget of its own. */
export async function noteSignIn(tx: Pick<Tx, '$executeRaw'>, { address, network }: Marks, now: Date): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO guess_budgets (address_mark, network_mark, signed_in_at, touched_at)
    VALUES (${address}, ${network}, ${now}, ${now})
    ON CONFLICT (address_mark, network_mark) DO UPDATE SET signed_in_at = ${now}, touched_at = ${now}`;
}

/** Forgets all wrong guesses of strangers, because a new password has made them worthless. */
export async function forgetGuesses(tx: Pick<Tx, '$executeRaw'>, address: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE guess_budgets SET wrong = 0, blocked_until = NULL, wrong_passwords = 0
    WHERE address_mark = ${address} AND network_mark = ${strangers}`;
}

/** Returns whether the person is to be told now; of several at once, one is true. */
export async function claimTelling(tx: Queries, { address }: Marks, now: Date): Promise<boolean> {
  const claimed = await tx.$queryRaw<unknown[]>`
    INSERT INTO guess_budgets AS b (address_mark, network_mark, told_at, touched_at)
    VALUES (${address}, ${strangers}, ${now}, ${now})
    ON CONFLICT (address_mark, network_mark) DO UPDATE SET told_at = ${now}
    WHERE b.told_at IS NULL OR b.told_at <= ${ago(now, guessRules.tellMs)}
    RETURNING 1`;
  return claimed.length === 1;
}

/** The person at whose address somebody guesses. */
export async function findPerson(tx: Pick<Tx, 'user'>, emailKey: string) {
  return tx.user.findFirst({
    where: { email_key: emailKey, disabled_at: null },
    select: { email: true, full_name: true },
  });
}

/** Nobody guesses any more, nor signed in from there lately. An address that was locked stays so for a year. */
export const oldGuesses = {
  table: 'guess_budgets',
  condition: `touched_at < $1::timestamptz - CASE WHEN wrong_passwords >= ${guessRules.wrongPasswords} THEN interval '365 days'
    WHEN signed_in_at IS NOT NULL OR wrong_passwords >= ${guessRules.wrong} THEN interval '30 days' ELSE interval '0' END`,
} satisfies Forgettable;
