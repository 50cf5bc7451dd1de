import { Problem } from '@attribution/contracts';
import type { Tx } from '../store.ts';
import { type Budget, countMessage, findBudgetEnd } from './mail-budget.store.ts';

/** To one address, and from one account to all addresses (decision 49). */
const perAddress = { hourly: 5, daily: 20 };
const invitationsPerDay = 100;

/** Counts an invitation in the transaction in which it is queued. Throws `conflict` when there were too many. */
export async function countInvitation(
  tx: Tx,
  { accountId, emailKey, now }: { accountId: string; emailKey: string; now: Date },
): Promise<void> {
  const all = { sender: accountId, recipient: '', hourly: invitationsPerDay, daily: invitationsPerDay };
  if (!(await countMessage(tx, all, now)))
    throw new Problem('conflict', `An account sends ${invitationsPerDay} invitations a day at most.`);
  if (!(await countMessage(tx, { sender: accountId, recipient: emailKey, ...perAddress }, now)))
    throw new Problem(
      'conflict',
      `An account sends ${perAddress.hourly} invitations an hour and ${perAddress.daily} a day to one address at most.`,
    );
}

/**
 * Codes have one budget for each address, whoever asks for them and for what. Addresses that nobody has are counted alike,
 * so that no response reveals which has a user.
 */
const codesTo = (emailKey: string): Budget => ({ sender: 'codes', recipient: emailKey, ...perAddress });

/** Throws `rate-limited` when no code can be sent to the address now: before anything slow is done. */
export async function requireCodeBudget(tx: Pick<Tx, '$queryRaw'>, emailKey: string, now: Date): Promise<void> {
  const until = await findBudgetEnd(tx, codesTo(emailKey), now);
  if (until) throw tooManyCodes(until, now);
}

/** Counts a code in the transaction in which it is issued. Throws `rate-limited` when there were too many. */
export async function countCode(tx: Tx, emailKey: string, now: Date): Promise<void> {
  const budget = codesTo(emailKey);
  if (await countMessage(tx, budget, now)) return;
  throw tooManyCodes((await findBudgetEnd(tx, budget, now)) ?? now, now);
}

function tooManyCodes(until: Date, now: Date): Problem {
  const seconds = String(Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000)));
  return new Problem('rate-limited', `Too many codes were sent to this address. Try again in ${seconds} s.`, {
    'retry-after': seconds,
    'ratelimit-limit': String(perAddress.hourly),
    'ratelimit-remaining': '0',
    'ratelimit-reset': seconds,
  });
}
