import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, scoreCampaign } from '@attribution/contracts';
import { rowsOf } from '../crash/check/databases.ts';
import { type KillStep, killDuring, startArmable } from '../crash/kill/kill-at.ts';
import type { Experiment, Finding } from '../experiment.ts';
import { openTill, type Till } from '../money/till.ts';
import { newDraft, type Outcome, outcomeOf } from '../scoring/draft.ts';
import { steps } from '../scoring/steps.ts';

/** How long a job whose process was killed may take to be tried again and to end. */
const endTimeoutMs = 180_000;

/**
 * `kill -9` between all steps from the request for scores to their commit. After a restart the client sends the request
 * again: there is one run, its scores are there once, and its tokens are spent once.
 */
export const scoringKills: Experiment = {
  name: 'scoring kills',
  rounds: { short: 1, long: 5 },
  async run({ rounds, say }) {
    const till = await openTill();
    const wrong = new Map<KillStep, string[]>(steps.map((step) => [step, []]));
    const kills = Array.from({ length: rounds }, () => steps).flat();
    try {
      await startArmable(till.member, kills[0]);
      const price = await priceOf(till);
      const trials: Trial[] = [];
      for (const [index, step] of kills.entries()) trials.push(await killAndRepeat(till, step, kills[index + 1]));
      for (const trial of trials) {
        const found = trial.wrong ?? (await look(till, trial, price));
        if (found === undefined) continue;
        wrong.get(trial.step)?.push(found);
        say(`  ${trial.step.name}: ${found}`);
      }
    } finally {
      await till.close();
    }
    return [...wrong].map(([step, found]) => findingOf(step, found, rounds));
  },
};

function findingOf({ name }: KillStep, wrong: readonly string[], tried: number): Finding {
  const found = wrong.length === 0 ? 'one run, one score, spent once' : wrong.join('; ');
  return { what: `scoring: kill -9 ${name}`, tried, found, bar: 'one of each', holds: wrong.length === 0 };
}

interface Trial {
  readonly step: KillStep;
  readonly account: string;
  readonly campaign: string;
  readonly wrong?: string;
}

/** Kills the platform while it scores a campaign, restarts it for the kill at `next`, and sends the request again. */
async function killAndRepeat(till: Till, step: KillStep, next: KillStep | undefined): Promise<Trial> {
  const { member, databases } = till;
  const { account, owner } = await till.newBuyer();
  const campaign = await newDraft(owner, account, databases);
  await till.quiet();
  const key = randomUUID();
  const reached = await killDuring(member, () => ask(owner, campaign, key), next);
  const trial = { step, account, campaign };
  if (!reached) return { ...trial, wrong: 'it was not reached' };
  const deadline = Date.now() + endTimeoutMs;
  for (let status = 0; status !== 202; await sleep(250)) {
    status = await ask(owner, campaign, key).catch(() => 0);
    if (Date.now() > deadline) return { ...trial, wrong: `the request that was sent again is answered ${status}` };
  }
  return trial;
}

async function priceOf({ databases }: Till): Promise<number> {
  const sql = "SELECT token_amount AS price FROM usage_prices WHERE action = 'score_ad'";
  const [found] = await rowsOf<{ price: number }>(databases.billing ?? '', sql);
  if (!found) throw new Error('Scores have no price');
  return found.price;
}

const ask = async (owner: Client, id: string, key: string): Promise<number> =>
  (await owner.call(scoreCampaign, { params: { id }, headers: { 'idempotency-key': key } })).status;

/** Waits until the run is over. Returns what is wrong with it; undefined if nothing is. */
async function look({ databases }: Till, { account, campaign }: Trial, price: number): Promise<string | undefined> {
  const deadline = Date.now() + endTimeoutMs;
  for (;;) {
    const outcome = await outcomeOf(databases, account, campaign);
    if (outcome.unfinished === 0 && outcome.done > 0) return faultOf(outcome, price);
    if (Date.now() > deadline) return `not over: ${JSON.stringify(outcome)}`;
    await sleep(500);
  }
}

const faultOf = (outcome: Outcome, price: number): string | undefined =>
  outcome.done === 1 && outcome.scores === 1 && outcome.spent === price && outcome.open === 0
    ? undefined
    : JSON.stringify(outcome);
