import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetProcess } from '@attribution/fleet';
import { faketimeEnvironment } from '@attribution/servers';
import type { Finding, Lab } from '../../experiment.ts';
import type { PossibleCondition } from '../conditions/condition.ts';
import { enterByCode } from '../second-factor.ts';
import type { SeparateWorld } from '../world.ts';
import { judged, seconds } from './act.ts';

/** Seconds from the right time, at most: two processes are five minutes apart. */
const most = 150;
const name = 'clock trouble';

/** The clocks of a fleet's processes up to five minutes apart. It comes last: they stay so. */
export const clocksApart: PossibleCondition = {
  name,
  needs: 'faketime',
  async open(lab, library) {
    const offsets = new Map<string, number>();
    return {
      adjust(launch) {
        const offset = offsets.get(launch.name) ?? 0;
        if (offset === 0) return launch;
        return { ...launch, environment: { ...launch.environment, ...faketimeEnvironment(library, offset) } };
      },
      act: {
        name,
        async run({ world, trial }) {
          const rounds = lab.long ? Math.ceil(lab.rounds / 4) : 1;
          const lasts = lab.long ? 20_000 : 3_000;
          const findings: Finding[] = [];
          for (let round = 0; round < rounds; round++) {
            setClocks(world, offsets, round, lab);
            await restart(world);
            const apart = Math.max(...offsets.values()) - Math.min(...offsets.values());
            let entered = false;
            const outcome = await trial.underLoad(async () => {
              await sleep(lasts);
              entered = await enterByCode(world).catch(() => false);
              const { ms, longest } = await trial.recover();
              lab.say(
                `  clocks ${JSON.stringify(Object.fromEntries(offsets))}: a journey takes ${seconds(ms)} (${longest})`,
              );
            });
            findings.push(
              judged({
                long: lab.long,
                what: `Clocks of separate processes up to ${apart} s apart`,
                tried: world.processes.all.length,
                outcome,
                seamless: true,
                holds: entered,
                more: [entered ? 'a login by an authenticator was let in' : 'a login by an authenticator was refused'],
                bar: 'nothing lost, doubled or refused, nor a login by an authenticator',
              }),
            );
          }
          return findings;
        },
      },
    };
  },
};

/** At first as it hurts most, later as it is drawn. */
function setClocks({ processes }: SeparateWorld, offsets: Map<string, number>, round: number, { chance }: Lab): void {
  for (const one of processes.all) offsets.set(one.name, round === 0 ? worst(one) : chance.int(-most, most));
}

/**
 * Organization is ahead and Campaign behind. Of the others one replica that serves is ahead of the other, and of all who
 * work behind it: to them nothing of what it hands over is due yet.
 */
function worst({ name: process, service, role }: FleetProcess): number {
  if (service === 'organization') return most;
  if (service === 'campaign' || role === 'worker') return -most;
  return process.endsWith('-1') ? most : -most;
}

/** All at once: nobody is there meanwhile. */
async function restart({ processes }: SeparateWorld): Promise<void> {
  await Promise.all(processes.all.map(({ name: process }) => processes.end(process, 'SIGTERM')));
  await processes.ready();
}
