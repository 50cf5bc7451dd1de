import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetProcess } from '@attribution/fleet';
import { faketimeEnvironment } from '@attribution/servers';
import type { Finding, Lab } from '../../experiment.ts';
import type { PossibleCondition } from '../conditions/condition.ts';
import { logInWithCode } from '../second-factor.ts';
import type { SeparateWorld } from '../world.ts';
import { judged, seconds } from './act.ts';

/** The largest difference from the right time, so that two processes are at most five minutes apart. */
const maxOffsetSeconds = 150;
const name = 'clock trouble';

/** Sets the clocks of a fleet's processes up to five minutes apart. It must be the last act, because the clocks stay wrong. */
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
          const durationMs = lab.long ? 20_000 : 3_000;
          const findings: Finding[] = [];
          for (let round = 0; round < rounds; round++) {
            setClocks(world, offsets, round, lab);
            await restart(world, [...offsets.keys()]);
            const spread = Math.max(...offsets.values()) - Math.min(...offsets.values());
            let loggedIn = false;
            const outcome = await trial.underLoad(async () => {
              await sleep(durationMs);
              loggedIn = await logInWithCode(world).catch(() => false);
              const { ms, longest } = await trial.recover();
              lab.say(
                `  clocks ${JSON.stringify(Object.fromEntries(offsets))}: a journey takes ${seconds(ms)} (${longest})`,
              );
            });
            findings.push(
              judged({
                long: lab.long,
                what: `Clocks of separate processes up to ${spread} s apart`,
                tried: offsets.size,
                outcome,
                seamless: true,
                holds: loggedIn,
                more: [loggedIn ? 'a login by an authenticator was let in' : 'a login by an authenticator was refused'],
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

/**
 * The first round has the worst case, later rounds are random. The short form leaves the right clock to the second replicas,
 * because each clock that is set costs a restart.
 */
function setClocks({ processes }: SeparateWorld, offsets: Map<string, number>, round: number, lab: Lab): void {
  const { chance, long } = lab;
  for (const one of processes.all.filter(({ name: process }) => long || process.endsWith('-1')))
    offsets.set(one.name, round === 0 ? worst(one) : chance.int(-maxOffsetSeconds, maxOffsetSeconds));
}

/**
 * Organization is ahead and Campaign behind. In the other services the first API replica is ahead of the second and of the
 * workers, for whom nothing that it has scheduled is due yet.
 */
function worst({ name: process, service, role }: FleetProcess): number {
  if (service === 'organization') return maxOffsetSeconds;
  if (service === 'campaign' || role === 'worker') return -maxOffsetSeconds;
  return process.endsWith('-1') ? maxOffsetSeconds : -maxOffsetSeconds;
}

/** Restarts processes all at once; there is no load at this time. */
async function restart({ processes }: SeparateWorld, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((process) => processes.end(process, 'SIGTERM')));
  await processes.ready(names);
}
