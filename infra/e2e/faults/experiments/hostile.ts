import { setTimeout as sleep } from 'node:timers/promises';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import type { Attack } from '../hostile/attack.ts';
import { prepareAttack } from '../hostile/attacker.ts';
import { attacks, attacksAtOnce } from '../hostile/attacks/index.ts';
import type { Rates } from '../hostile/clients.ts';
import { clusterLimits, type Ground, openOnePlatform, openProcesses } from '../hostile/grounds.ts';
import { renewed, startHonestProcess } from '../hostile/honest.ts';
import { judgeFailures, judgeNotice, judgeProcesses, type Seen } from '../hostile/judge.ts';
import { watchMemory } from '../hostile/memory.ts';
import { type AttackerPriority, type HonestPriority, mayGoFirst } from '../hostile/process.ts';
import { newOwner, type Owner } from '../outages/owner.ts';

interface Form {
  readonly people: number;
  readonly rates: Rates;
  readonly scale: number;
  /** How long the honest ones are measured alone before each attack. */
  readonly quietMs: number;
  readonly attackMs: number;
  readonly priorities: { readonly honest: HonestPriority; readonly attacker: AttackerPriority };
  readonly attacks: readonly Attack[];
  readonly judge: typeof judgeNotice;
}
const forms: Record<'short' | 'long', Form> = {
  short: {
    people: 3,
    rates: { reads: 20, logins: 2 },
    scale: 0.05,
    quietMs: 500,
    attackMs: 1_500,
    priorities: { honest: 'normal', attacker: 'nice' },
    attacks: attacksAtOnce,
    judge: judgeFailures,
  },
  long: {
    people: 20,
    rates: { reads: 200, logins: 5 },
    scale: 1,
    quietMs: 10_000,
    attackMs: 20_000,
    priorities: { honest: 'first', attacker: 'idle' },
    attacks,
    judge: judgeNotice,
  },
};

/** All services are in it, and so it may have somewhat more than each has in the cluster. */
const onePlatformMb = clusterLimits.memory + 128;

/** One hostile client beside honest ones: the process lives, its memory is bounded, and the honest ones hardly notice. */
export const hostile: Experiment = {
  name: 'hostile one process',
  rounds: { short: 1, long: 1 },
  run: async (lab) => attackAll('one process', await openOnePlatform(), onePlatformMb, lab),
};

/** The same on the processes of docker-compose.yml, each with the limits that it has in the cluster. */
export const hostileFleet: Experiment = {
  name: 'hostile fleet',
  rounds: { short: 1, long: 1 },
  needs: ['kafka', 'redis'],
  run: async (lab) => attackAll('fleet', await openProcesses(lab.say), clusterLimits.memory, lab),
};

async function attackAll(where: string, ground: Ground, limitMb: number, lab: Lab): Promise<Finding[]> {
  const form = forms[lab.long ? 'long' : 'short'];
  const memory = watchMemory(ground);
  const stops = [() => memory.stop(), () => ground.close()];
  const seen: Seen[] = [];
  const newPerson = () => newOwner(ground.url, ground.mailDirectory);
  try {
    const chosen = form.attacks.filter(({ name }) => name.includes(lab.only ?? ''));
    const people = await inTurn(form.people, newPerson);
    const attackers = await inTurn(chosen.length, newPerson);
    const priority = await honestPriority(form, lab);
    const honest = await startHonestProcess(ground.url, people as [Owner, Owner, ...Owner[]], form.rates, priority);
    stops.unshift(() => honest.stop());
    await sleep(2 * form.quietMs); // The first requests compile code.
    for (const [at, attack] of chosen.entries()) {
      await honest.renew();
      const attacker = await renewed(attackers[at] as Owner);
      const victim = people.at(-1)?.email ?? '';
      const target = { url: ground.url, attacker, victim, scale: form.scale };
      const attempt = await prepareAttack(attack.name, target, form.priorities.attacker);
      await honest.take(); // What was begun before.
      await sleep(form.quietMs);
      const quiet = await honest.take(); // Right before, because a virtual machine's speed may change within minutes.
      attempt.begin();
      await sleep(form.attackMs);
      const one: Seen = { attack, quiet, honest: await honest.take(), result: await attempt.end() };
      seen.push(one);
      lab.say(`  ${attack.name}: ${form.judge(where, one).found}`);
      if (ground.deaths().length > 0) break; // What comes after a death tells nothing.
    }
    return [
      ...seen.map((one) => form.judge(where, one)),
      judgeProcesses(where, seen.length, ground.deaths(), memory.most, limitMb),
    ];
  } finally {
    for (const stop of stops) await stop();
  }
}

async function honestPriority({ priorities: { honest } }: Form, { say }: Lab): Promise<HonestPriority> {
  if (honest === 'normal' || (await mayGoFirst())) return honest;
  say('  The honest ones have no priority here, so that what they measure has their own waits for a processor in it.');
  return 'normal';
}

/** One after the other: sign-ups at once would be told to come again. */
async function inTurn<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) made.push(await make());
  return made;
}
