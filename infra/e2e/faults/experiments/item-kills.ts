import { openField } from '../contact/field.ts';
import { type KillStep, killDuring, startArmable } from '../crash/kill/kill-at.ts';
import { openChain } from '../day/chain.ts';
import { compareFigures } from '../day/figures.ts';
import { type Day, drawDay } from '../day/items.ts';
import { countRows, untilCounted } from '../day/kept.ts';
import { nothingSent, sendAll } from '../day/sending.ts';
import { itemSteps } from '../day/steps.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';

const busyness = { plays: 40, visits: 15 };

/**
 * `kill -9` between all steps from the socket of the ingress to the rollups. Devices send again what was not answered, and
 * nothing else: each item that was answered is there once and counts once, in figures that are those of a recount.
 */
export const itemKills: Experiment = {
  name: 'item kills',
  rounds: { short: 1, long: 5 },
  async run(lab) {
    const field = await openField();
    const wrong = new Map<KillStep, string[]>(itemSteps.map((step) => [step, []]));
    try {
      await startArmable(field.till.member, undefined);
      await killEach(field, lab, wrong);
    } finally {
      await field.till.close();
    }
    return [...wrong].map(([step, found]) => findingOf(step, found, lab.rounds));
  },
};

function findingOf({ name }: KillStep, wrong: readonly string[], tried: number): Finding {
  const found = wrong.length === 0 ? 'each item once, figures equal to the recount' : wrong.join('; ');
  return { what: `items: kill -9 ${name}`, tried, found, bar: 'each item counts once', holds: wrong.length === 0 };
}

async function killEach(
  { till, ingress }: Awaited<ReturnType<typeof openField>>,
  { rounds, chance, say }: Lab,
  wrong: ReadonlyMap<KillStep, string[]>,
): Promise<void> {
  const { member, databases, mailDirectory } = till;
  const chain = await openChain(
    { url: member.url, mailDirectory, databases, devices: ingress },
    { shops: 1, devices: 1 },
  );
  const steps = Array.from({ length: rounds }, () => itemSteps).flat();
  const sent = nothingSent();
  /** Everything that was sent so far: the kills are all of one day of one location. */
  let all: Day | undefined;
  await till.quiet();
  await member.end('SIGTERM');
  await startArmable(member, steps[0]);
  for (const [index, step] of steps.entries()) {
    const more = drawDay(chain, busyness, chance);
    all = { ...more, visits: [...(all?.visits ?? []), ...more.visits], plays: [...(all?.plays ?? []), ...more.plays] };
    let sending = Promise.resolve();
    const reached = await killDuring(
      member,
      () => {
        sending = sendAll(more.batches, sent, chance);
        return sending;
      },
      steps[index + 1],
    );
    await sending;
    const behind = await untilCounted(databases);
    await till.quiet();
    const { lost, doubled } = await countRows(databases, sent);
    const figures = await compareFigures(chain, all);
    const found = [
      ...(reached ? [] : ['it was not reached']),
      ...(lost + doubled > 0 ? [`lost ${lost}, doubled ${doubled}`] : []),
      ...(behind > 0 ? [`${behind} hours behind`] : []),
      ...sent.wrong.splice(0),
      ...figures.wrong.slice(0, 3),
    ];
    say(`  ${step.name}: ${found.length === 0 ? 'all of it once' : found.join('; ')}`);
    wrong.get(step)?.push(...found);
  }
}
