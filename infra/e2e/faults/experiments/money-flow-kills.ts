import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type KillStep, killDuring, startArmable } from '../crash/kill/kill-at.ts';
import type { Experiment, Finding } from '../experiment.ts';
import { type Flow, flows } from '../money/flows.ts';
import { openTill, type Till } from '../money/till.ts';

/** How long the restarted platform may take until the figures are right, and how long duplicates are waited for. */
const timeoutMs = 60_000;
const duplicateWaitMs = 2_000;

interface Kill {
  readonly flow: Flow;
  readonly step: KillStep;
}

/**
 * `kill -9` between all steps of a lost dispute, a refund to store credit and an upgrade that waits for its payer. After a
 * restart people do again what they did: money, tokens, credit and debts are those of one that nobody killed.
 */
export const moneyFlowKills: Experiment = {
  name: 'kills of disputes, credit and waiting payments',
  rounds: { short: 1, long: 3 },
  async run({ rounds, only, say }) {
    const tried = flows.filter(({ name }) => only === undefined || name.includes(only));
    const kills = Array.from({ length: rounds }, () =>
      tried.flatMap((flow) => flow.steps.map((step): Kill => ({ flow, step }))),
    ).flat();
    const wrong = new Map<KillStep, string[]>();
    const till = await openTill();
    try {
      await startArmable(till.member, kills[0]?.step);
      for (const [index, { flow, step }] of kills.entries()) {
        const found = await killAndRepeat(till, flow, kills[index + 1]?.step).catch((error: unknown) => String(error));
        say(`  ${flow.name}, ${step.name}: ${found ?? 'right'}`);
        if (found !== undefined) wrong.set(step, [...(wrong.get(step) ?? []), found]);
      }
    } finally {
      await till.close();
    }
    return tried.flatMap((flow) => flow.steps.map((step) => findingOf(flow, step, wrong.get(step) ?? [], rounds)));
  },
};

function findingOf(flow: Flow, { name }: KillStep, wrong: readonly string[], tried: number): Finding {
  const found = wrong.length === 0 ? 'lost 0, doubled 0, differences 0' : wrong.join('; ');
  const bar = 'the same money, tokens, credit and debt as without a kill';
  return { what: `${flow.name}: kill -9 ${name}`, tried, found, bar, holds: wrong.length === 0 };
}

async function begin(till: Till, flow: Flow) {
  const begun = await flow.begin(till);
  await till.quiet();
  return begun;
}

/** Returns what is wrong in the end; undefined if nothing is. The process runs for the next kill afterwards. */
async function killAndRepeat(till: Till, flow: Flow, next: KillStep | undefined): Promise<string | undefined> {
  const begun = await begin(till, flow).catch(async (error: unknown) => {
    await till.member.end('SIGKILL');
    await startArmable(till.member, next);
    throw error;
  });
  const { account, act } = begun;
  if (!(await killDuring(till.member, act, next))) return 'it was not reached';
  const isRight = async () => isDeepStrictEqual(await flow.figures(till, account), flow.expected);
  const deadline = Date.now() + timeoutMs;
  while (!(await isRight()) && Date.now() < deadline) {
    await act().catch(() => undefined); // What is done already may be refused.
    await sleep(500);
  }
  await sleep(duplicateWaitMs);
  return (await isRight()) ? undefined : JSON.stringify(await flow.figures(till, account));
}
