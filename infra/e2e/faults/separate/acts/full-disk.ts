import { setTimeout as sleep } from 'node:timers/promises';
import { registeredNames } from '@attribution/registry';
import type { Finding } from '../../experiment.ts';
import type { PossibleCondition } from '../conditions/condition.ts';
import { smallDisks } from '../conditions/small-disks.ts';
import { askOthers } from '../others.ts';
import { judged, seconds, sum } from './act.ts';
import { untilFelt } from './felt.ts';

const name = 'disk trouble';

/** The disk below one service's database full, and then with room again. */
export const fullDisk: PossibleCondition = {
  name,
  needs: 'mounts',
  async open(_lab, how) {
    const disks = smallDisks(how, registeredNames);
    return {
      prepare: (servers) => disks.prepare(servers),
      close: () => disks.close(),
      act: {
        name,
        async run({ world, trial, lab }) {
          const lasts = lab.long ? 30_000 : 5_000;
          const victims = lab.long ? registeredNames : (['organization'] as const);
          const rounds = lab.long ? Math.ceil(lab.rounds / 10) : 1;
          const findings: Finding[] = [];
          for (const victim of victims) {
            const pids = () => world.processes.all.map(({ pid }) => pid).join();
            const before = pids();
            const others = { asked: 0, failed: 0 };
            const outcome = await trial.underLoad(async () => {
              for (let round = 0; round < rounds; round++) {
                await sleep(lab.chance.int(500, 1_000));
                const beside = await askOthers(world, victim);
                await disks.fill(victim);
                await untilFelt(trial, lasts, /^503/);
                await disks.empty(victim);
                const { asked, failed } = await beside.stop();
                others.asked += asked;
                others.failed += failed;
                const { ms, longest } = await trial.recover();
                lab.say(`  ${victim} without room for ${seconds(lasts)}: well after ${seconds(ms)} (${longest})`);
              }
            });
            const refused = sum(outcome.failures, (failure) => failure.startsWith('503'));
            findings.push(
              judged({
                long: lab.long,
                what: `The disk below ${victim}'s database full for ${seconds(lasts)}`,
                tried: rounds,
                outcome,
                holds: refused > 0 && others.failed === 0 && others.asked > 0 && pids() === before,
                more: [
                  `other services ${others.asked} asked, ${others.failed} failed`,
                  ...(pids() === before ? ['no process ended'] : ['a process ended']),
                ],
                bar: 'nothing lost, doubled or dead-lettered; refusals are problem details; others answer; no process ends',
              }),
            );
          }
          return findings;
        },
      },
    };
  },
};
