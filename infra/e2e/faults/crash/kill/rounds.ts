import { setTimeout as sleep } from 'node:timers/promises';
import { type Chance, eventually } from '@attribution/testing';
import pTimeout from 'p-timeout';
import type { Victim, World } from '../worlds/world.ts';
import { type KillPoint, killArgument } from './kill-points.ts';

/** One kill. */
export type Round =
  | { readonly point: KillPoint; readonly pass: number; readonly subject?: string }
  /** Milliseconds after the start of the process, or after it is ready and under load. */
  | { readonly point: 'random moment'; readonly after: 'start' | 'load'; readonly ms: number };

/** Where a process is killed. */
export type Target = Round['point'];

/** A consumer first waits until the session of the one that was killed before it has expired. */
const reachTimeoutMs = 120_000;
/** The highest pass at which a point kills, if not 30: a consumer passes its points less often than requests do. */
const maxPasses = { 'mid-batch': 4, 'after the effect before the offset': 3 } as Partial<Record<KillPoint, number>>;

function drawRound(target: Target, n: number, chance: Chance): Round {
  if (target !== 'random moment') return { point: target, pass: chance.int(1, maxPasses[target] ?? 30) };
  // A fourth of the kills happens while the process starts.
  return { point: target, after: n % 4 === 3 ? 'start' : 'load', ms: chance.int(0, 1_000) };
}

/** The rounds of each victim, which run in parallel. Those of a target are spread over the victims that pass it. */
export type Plan = ReadonlyMap<Victim, readonly Round[]>;

export function planRounds(
  { victims }: Pick<World, 'victims'>,
  targets: readonly Target[],
  rounds: number,
  chance: Chance,
): Plan {
  const plan = new Map<Victim, Round[]>(victims.map((victim) => [victim, []]));
  const load = (victim: Victim) => plan.get(victim)?.length ?? 0;
  for (const target of targets)
    for (let n = 0; n < rounds; n++) {
      const candidates = victims.filter(({ points }) => target === 'random moment' || points.includes(target));
      const least = Math.min(...candidates.map(load));
      const [first, ...others] = candidates.filter((victim) => load(victim) === least);
      if (first === undefined) throw new Error(`Nothing here passes the point "${target}"`);
      plan.get(chance.pick([first, ...others]))?.push(drawRound(target, n, chance));
    }
  return plan;
}

/**
 * Starts the victims, unless they run, kills them in parallel and restarts them; at the end all are ready. `busy` resolves when they are under load.
 * Returns the number of kills.
 */
export async function runRounds(
  plan: Plan,
  { say, busy }: { readonly say: (line: string) => void; readonly busy: () => Promise<void> },
): Promise<number> {
  let kills = 0;
  const failures: unknown[] = [];
  async function killAll(victim: Victim, rounds: readonly Round[]): Promise<void> {
    // The preload must be there from the start of the process, so a running one is ended first.
    if (rounds[0] !== undefined && rounds[0].point !== 'random moment') await victim.kill();
    for (const round of rounds) {
      if (failures.length > 0) return;
      await killOnce(victim, round, busy);
      kills++;
      if (kills % 10 === 0) say(`  ${kills} kills`);
    }
    if (!victim.member.running) victim.member.start();
  }
  const lanes = [...plan].map(([victim, rounds]) =>
    killAll(victim, rounds).catch((error: unknown) => void failures.push(error)),
  );
  await Promise.all(lanes);
  if (failures.length > 0) throw failures[0];
  await Promise.all([...plan.keys()].map((victim) => victim.ready()));
  return kills;
}

/** Starts the process unless it is running, and kills it when it is under load or while it starts. */
async function killOnce(victim: Victim, round: Round, busy: () => Promise<void>): Promise<void> {
  const { member } = victim;
  if (round.point === 'random moment') {
    if (!member.running) member.start();
    if (round.after === 'load') {
      await victim.ready();
      await busy();
    }
    await sleep(round.ms);
    await victim.kill();
  } else {
    const before = member.output.length;
    member.start([killArgument(round)]);
    await victim.ready();
    await busy();
    process.kill(member.pid, 'SIGUSR2');
    const reached = await pTimeout(member.ended(), { milliseconds: reachTimeoutMs, fallback: () => undefined });
    if (reached === undefined) throw new Error(`${victim.name} never passed "${round.point}" ${round.pass} times`);
    const message = `Killed: ${round.point}, passing ${round.pass}`;
    // The output of a process may arrive after its exit.
    await eventually(() => {
      if (!member.output.slice(before).includes(message))
        throw new Error(`${victim.name} ended elsewhere (${reached})`);
    });
  }
  const ending = await member.ended();
  if (ending !== 'SIGKILL')
    throw new Error(`${victim.name} ended unexpectedly: ${ending}\n${member.output.slice(-4_000)}`);
}
