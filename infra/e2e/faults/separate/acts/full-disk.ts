import { setTimeout as sleep } from 'node:timers/promises';
import { registeredNames } from '@attribution/registry';
import type { Finding } from '../../experiment.ts';
import type { PossibleCondition } from '../conditions/condition.ts';
import { smallDisks } from '../conditions/small-disks.ts';
import { sendToOtherServices } from '../others.ts';
import { judged, seconds, sum } from './act.ts';
import { untilNoticed } from './until-noticed.ts';

const name = 'disk trouble';

/** Fills the disk of one service's database, and then makes room again. */
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
          const durationMs = lab.long ? 30_000 : 3_000;
          const victims = lab.long ? registeredNames : (['organization'] as const);
          const rounds = lab.long ? Math.ceil(lab.rounds / 10) : 1;
          const findings: Finding[] = [];
          for (const victim of victims) {
            const pids = () => world.processes.all.map(({ pid }) => pid).join();
            const before = pids();
            const others = { sent: 0, failed: 0 };
            const outcome = await trial.underLoad(async () => {
              for (let round = 0; round < rounds; round++) {
                await sleep(lab.chance.int(500, 1_000));
                const traffic = await sendToOtherServices(world, victim);
                await disks.fill(victim);
                await untilNoticed(trial, durationMs, /^503/);
                await disks.empty(victim);
                const { sent, failed } = await traffic.stop();
                others.sent += sent;
                others.failed += failed;
                const { ms, longest } = await trial.recover();
                lab.say(`  ${victim} without room for ${seconds(durationMs)}: well after ${seconds(ms)} (${longest})`);
              }
            });
            const refused = sum(outcome.failures, (failure) => failure.startsWith('503'));
            findings.push(
              judged({
                long: lab.long,
                what: `The disk below ${victim}'s database full for ${seconds(durationMs)}`,
                tried: rounds,
                outcome,
                holds: refused > 0 && others.failed === 0 && others.sent > 0 && pids() === before,
                more: [
                  `other services: ${others.sent} requests, ${others.failed} failed`,
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
