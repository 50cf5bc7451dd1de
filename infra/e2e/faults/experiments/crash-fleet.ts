import { crashFindings } from '../crash/findings.ts';
import { type KillPoint, killPoints } from '../crash/kill/kill-points.ts';
import type { Target } from '../crash/kill/rounds.ts';
import { openFleet } from '../crash/worlds/fleet.ts';
import type { Experiment } from '../experiment.ts';

const targets: readonly Target[] = ['random moment', ...(Object.keys(killPoints) as KillPoint[])];

/** `kill -9` of single processes of a fleet over Kafka: nothing acknowledged is lost, every event takes effect once, in order. */
export const crashFleet: Experiment = {
  name: 'crash fleet',
  rounds: { short: 1, long: 50 },
  needs: ['kafka'],
  run: (lab) => crashFindings('a process of a fleet over Kafka', targets, lab, () => openFleet(lab.kafkaBrokers ?? [])),
};
