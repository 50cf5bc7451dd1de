import type { Experiment, Finding } from '../experiment.ts';
import type { Act } from '../separate/acts/act.ts';
import { clocksApart } from '../separate/acts/clocks-apart.ts';
import { fullDisk } from '../separate/acts/full-disk.ts';
import { kills } from '../separate/acts/kills.ts';
import { lossyNetwork } from '../separate/acts/lossy-network.ts';
import { rolling } from '../separate/acts/rolling.ts';
import { kafka, postgres, redis } from '../separate/acts/servers.ts';
import { combine, openConditions } from '../separate/conditions/condition.ts';
import { openTrial } from '../separate/trial.ts';
import { openSeparate } from '../separate/world.ts';

const acts: readonly Act[] = [rolling, kills, kafka, redis, postgres];
/** In the order in which they run, after the other acts. The clocks come last because they stay apart. */
const possible = [lossyNetwork, fullDisk, clocksApart];

/** Kills, stops and restarts the processes of docker-compose.yml, two replicas of each, and their servers under load. */
export const separate: Experiment = {
  name: 'separate processes',
  rounds: { short: 1, long: 20 },
  needs: ['kafka', 'redis'],
  async run(lab) {
    const { only = '' } = lab;
    const conditions = combine(await openConditions(possible, lab));
    const world = await openSeparate({ say: lab.say, note: lab.note, ...conditions.options }).catch(async (error) => {
      await conditions.close();
      throw error;
    });
    try {
      await conditions.opened(world);
      const trial = openTrial(world, lab);
      const findings: Finding[] = [];
      for (const act of [...acts, ...conditions.acts].filter(({ name }) => name.includes(only))) {
        const found = await act.run({ world, trial, lab });
        for (const { what, found: text } of found) lab.say(`  ${what}: ${text}`); // The table follows at the end, perhaps hours later.
        findings.push(...found);
      }
      return findings;
    } finally {
      await world.close();
      await conditions.close();
    }
  },
};
