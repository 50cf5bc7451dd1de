import { setTimeout as sleep } from 'node:timers/promises';
import { type KillStep, killDuring, startArmable } from '../crash/kill/kill-at.ts';
import type { Experiment, Finding } from '../experiment.ts';
import { steps } from '../money/steps.ts';
import { openTill, type Till } from '../money/till.ts';

/** A payment that the restarted platform has not finished by then is never finished. */
const timeoutMs = 90_000;
/** How long to wait for duplicates: after each kill in the long form, after the last one in the short form. */
const duplicateWaitMs = 1_000;

/** `kill -9` between all steps from the payment to the grant: after a restart there is one payment, one entry and one grant. */
export const moneyKills: Experiment = {
  name: 'money kills',
  rounds: { short: 1, long: 10 },
  async run({ rounds, long, say }) {
    const till = await openTill();
    const wrong = new Map<KillStep, string[]>(steps.map((step) => [step, []]));
    const kills = Array.from({ length: rounds }, () => steps).flat();
    try {
      await startArmable(till.member, kills[0]);
      const trials: { readonly step: KillStep; readonly trial: Trial }[] = [];
      for (const [index, step] of kills.entries()) {
        trials.push({ step, trial: await killAndFinish(till, kills[index + 1]) });
        if (long) await sleep(duplicateWaitMs);
      }
      if (!long) await sleep(duplicateWaitMs);
      for (const { step, trial } of trials) {
        const found = trial.wrong ?? (await look(till, trial.account));
        if (found === undefined) continue;
        wrong.get(step)?.push(found);
        say(`  ${step.name}: ${found}`);
      }
    } finally {
      await till.close();
    }
    return [...wrong].map(([step, found]) => findingOf(step, found, rounds));
  },
};

function findingOf({ name }: KillStep, wrong: readonly string[], tried: number): Finding {
  const found = wrong.length === 0 ? 'one payment, one entry, one grant' : wrong.join('; ');
  return { what: `money: kill -9 ${name}`, tried, found, bar: 'one of each', holds: wrong.length === 0 };
}

interface Trial {
  readonly account: string;
  /** What was wrong before the next kill, whose restart might make up for it. */
  readonly wrong?: string;
}

/**
 * Kills the platform during a payment, restarts it for the kill at `next`, and gives it time to finish the payment. Returns
 * the account, and what is wrong if the kill was not reached or the payment is not finished in time.
 */
async function killAndFinish(till: Till, next: KillStep | undefined): Promise<Trial> {
  const { member, outcome } = till;
  const { account, url } = await till.newCheckout();
  await till.quiet();
  const body = new URLSearchParams({ action: 'use:succeeds' });
  const reached = await killDuring(member, () => fetch(url, { method: 'POST', body }), next);
  if (!reached) return { account, wrong: 'it was not reached' };
  const deadline = Date.now() + timeoutMs;
  while (Math.min(...(await outcome(account))) < 1 && Date.now() < deadline) await sleep(50);
  const [payments, entries, grants] = await outcome(account);
  if (Math.min(payments, entries, grants) > 0) return { account };
  return { account, wrong: textOf(payments, entries, grants) };
}

const textOf = (payments: number, entries: number, grants: number) =>
  `${payments} payments, ${entries} entries, ${grants} grants`;

/** Returns what is wrong with the account's payment; undefined if nothing is. */
async function look({ outcome }: Till, account: string): Promise<string | undefined> {
  const [payments, entries, grants] = await outcome(account);
  if (payments === 1 && entries === 1 && grants === 1) return undefined;
  return textOf(payments, entries, grants);
}
