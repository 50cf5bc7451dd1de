import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@attribution/testing';
import pTimeout from 'p-timeout';
import type { Chance } from '../../random.ts';
import type { Victim, World } from '../worlds/world.ts';
import { type KillPoint, killArgument } from './kill-points.ts';

/** One kill. */
export type Round =
  | { readonly point: KillPoint; readonly at: number; readonly of?: string }
  /** Milliseconds after the start of the process, or after it is well and under load. */
  | { readonly point: 'random moment'; readonly after: 'start' | 'load'; readonly ms: number };

/** What is to be killed, and how often. */
export type Target = Round['point'];

/** Milliseconds in which a point must be passed under load; a consumer waits for the one before it that was killed. */
const reachedWithin = 120_000;
/** Passings before the kill. A consumer passes less often than a request. */
const passings = { 'mid-batch': 4, 'after the effect before the offset': 3 } as Partial<Record<KillPoint, number>>;

/** Draws the nth round of a target. */
function drawRound(target: Target, n: number, chance: Chance): Round {
  if (target !== 'random moment') return { point: target, at: chance.int(1, passings[target] ?? 30) };
  // A fourth of them while it starts.
  return { point: target, after: n % 4 === 3 ? 'start' : 'load', ms: chance.int(0, 1_000) };
}

/** The rounds of each victim. A target's are spread over those that pass it; they run side by side. */
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
      const able = victims.filter(({ points }) => target === 'random moment' || points.includes(target));
      const least = Math.min(...able.map(load));
      const [first, ...others] = able.filter((victim) => load(victim) === least);
      if (first === undefined) throw new Error(`Nothing here passes the point "${target}"`);
      plan.get(chance.pick([first, ...others]))?.push(drawRound(target, n, chance));
    }
  return plan;
}

/**
 * Kills and starts again, victim beside victim; in the end all are well. `busy` resolves when there is load on them. Returns
 * the number of kills.
 */
export async function runRounds(
  plan: Plan,
  { say, busy }: { readonly say: (line: string) => void; readonly busy: () => Promise<void> },
): Promise<number> {
  let kills = 0;
  const failures: unknown[] = [];
  async function killAll(victim: Victim, rounds: readonly Round[]): Promise<void> {
    if (rounds.length === 0) return;
    // A point is watched from the start of a process: one that runs already makes room.
    if (rounds[0]?.point !== 'random moment') await victim.kill();
    for (const round of rounds) {
      if (failures.length > 0) return;
      await killOnce(victim, round, busy);
      kills++;
      if (kills % 10 === 0) say(`  ${kills} kills`);
    }
    victim.member.start();
  }
  const lanes = [...plan].map(([victim, rounds]) =>
    killAll(victim, rounds).catch((error: unknown) => void failures.push(error)),
  );
  await Promise.all(lanes);
  if (failures.length > 0) throw failures[0];
  await Promise.all([...plan.keys()].map((victim) => victim.well()));
  return kills;
}

/** Starts the process, unless it runs, and kills it, after it has come back well or while it starts. */
async function killOnce(victim: Victim, round: Round, busy: () => Promise<void>): Promise<void> {
  const { member } = victim;
  if (round.point === 'random moment') {
    if (!member.running) member.start();
    if (round.after === 'load') {
      await victim.well();
      await busy();
    }
    await sleep(round.ms);
    await victim.kill();
  } else {
    const before = member.output.length;
    member.start([killArgument(round)]);
    await victim.well();
    await busy();
    process.kill(member.pid, 'SIGUSR2');
    const reached = await pTimeout(member.ended(), { milliseconds: reachedWithin, fallback: () => undefined });
    if (reached === undefined) throw new Error(`${victim.name} never passed "${round.point}" ${round.at} times`);
    const told = `Killed: ${round.point}, passing ${round.at}`;
    // What a process wrote may come after its end.
    await eventually(() => {
      if (!member.output.slice(before).includes(told)) throw new Error(`${victim.name} ended elsewhere (${reached})`);
    }, 2_000);
  }
  const ending = await member.ended();
  if (ending !== 'SIGKILL')
    throw new Error(`${victim.name} ended by itself: ${ending}\n${member.output.slice(-4_000)}`);
}
