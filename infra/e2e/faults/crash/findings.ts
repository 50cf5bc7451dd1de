import type { Finding, Lab } from '../experiment.ts';
import { crash } from './crash.ts';
import { planRounds, type Target } from './kill/rounds.ts';
import type { World } from './worlds/world.ts';

/**
 * Kills at each target as often as the lab says. In the long form each target has its own platform and its own finding;
 * in the short form all targets share both.
 */
export async function crashFindings(
  where: string,
  targets: readonly Target[],
  { chance, rounds, long, only = '', seed, say }: Lab,
  open: () => Promise<World>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const chosen = targets.filter((target) => target.includes(only));
  for (const some of long ? chosen.map((target) => [target]) : [chosen]) {
    const what = `kill -9, ${where}: ${some.join('; ')}`;
    say(`  ${what}`);
    const world = await open();
    const plan = planRounds(world, some, rounds, chance);
    const { kills, found, bar, holds } = await crash(world, { plan, seed, say });
    say(`  ${found}`); // The table follows at the end, perhaps hours later.
    findings.push({ what, tried: kills, found, bar, holds });
  }
  return findings;
}
