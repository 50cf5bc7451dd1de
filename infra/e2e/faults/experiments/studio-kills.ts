import { setTimeout as sleep } from 'node:timers/promises';
import { type KillStep, killDuring, startArmable } from '../crash/kill/kill-at.ts';
import type { Experiment, Finding } from '../experiment.ts';
import { openTill, type Till } from '../money/till.ts';
import type { Flow, Prepared } from '../studio/flow.ts';
import { processing } from '../studio/processing.ts';
import { publishing } from '../studio/publishing.ts';

/** How long a job whose process was killed may take to be tried again and to end. */
const endTimeoutMs = 180_000;

interface Kill {
  readonly flow: Flow;
  readonly step: KillStep;
}

const kills: readonly Kill[] = [processing, publishing].flatMap((flow) => flow.steps.map((step) => ({ flow, step })));

/**
 * `kill -9` between all steps of the processing of a file, and of a publish. After a restart the client sends the request
 * again: what follows from it is there once, and whole.
 */
export const studioKills: Experiment = {
  name: 'studio kills',
  rounds: { short: 1, long: 5 },
  async run({ rounds, say }) {
    const till = await openTill();
    const wrong = new Map<Kill, string[]>(kills.map((kill) => [kill, []]));
    const all = Array.from({ length: rounds }, () => kills).flat();
    try {
      await startArmable(till.member, all[0]?.step);
      const trials: Trial[] = [];
      for (const [index, kill] of all.entries()) trials.push(await killAndRepeat(till, kill, all[index + 1]?.step));
      for (const { kill, prepared, fault } of trials) {
        const found = fault ?? (await lookAt(prepared));
        if (found === undefined) continue;
        wrong.get(kill)?.push(found);
        say(`  ${kill.step.name}: ${found}`);
      }
    } finally {
      await till.close();
    }
    return [...wrong].map(([kill, found]) => findingOf(kill, found, rounds));
  },
};

interface Trial {
  readonly kill: Kill;
  readonly prepared: Prepared;
  readonly fault?: string;
}

/** Kills the platform at a step, restarts it for the kill at `next`, and sends the request again. */
async function killAndRepeat(till: Till, kill: Kill, next: KillStep | undefined): Promise<Trial> {
  const prepared = await kill.flow.prepare(till);
  await till.quiet();
  const reached = await killDuring(till.member, () => prepared.ask(), next);
  if (!reached) return { kill, prepared, fault: 'it was not reached' };
  const deadline = Date.now() + endTimeoutMs;
  while (!(await prepared.ask().catch(() => false))) {
    if (Date.now() > deadline) return { kill, prepared, fault: 'the request that was sent again is not accepted' };
    await sleep(250);
  }
  return { kill, prepared };
}

/** Waits until it is over. Returns what is wrong with it; undefined if nothing is. */
async function lookAt({ look }: Prepared): Promise<string | undefined> {
  const deadline = Date.now() + endTimeoutMs;
  for (;;) {
    const { isOver, wrong } = await look();
    if (isOver) return wrong;
    if (Date.now() > deadline) return `not over: ${wrong}`;
    await sleep(500);
  }
}

function findingOf({ flow, step }: Kill, wrong: readonly string[], tried: number): Finding {
  const found = wrong.length === 0 ? flow.whole : wrong.join('; ');
  return {
    what: `${flow.name}: kill -9 ${step.name}`,
    tried,
    found,
    bar: 'once, and whole',
    holds: wrong.length === 0,
  };
}
