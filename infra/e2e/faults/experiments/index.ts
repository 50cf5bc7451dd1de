import type { Experiment } from '../experiment.ts';
import { contactKills } from './contact-kills.ts';
import { crashEmbedded } from './crash-embedded.ts';
import { crashFleet } from './crash-fleet.ts';
import { crashOneProcess } from './crash-one-process.ts';
import { day } from './day.ts';
import { days } from './days.ts';
import { hostile, hostileFleet } from './hostile.ts';
import { itemKills } from './item-kills.ts';
import { kafka } from './kafka.ts';
import { money } from './money.ts';
import { moneyFlowKills } from './money-flow-kills.ts';
import { moneyKills } from './money-kills.ts';
import { plantedLift } from './planted-lift.ts';
import { postgres } from './postgres.ts';
import { publishFleet, publishOne } from './publish-to-screen.ts';
import { redis } from './redis.ts';
import { schemathesis } from './schemathesis.ts';
import { scoringKills } from './scoring-kills.ts';
import { separate } from './separate.ts';
import { sigterm } from './sigterm.ts';
import { slowClients } from './slow-clients.ts';
import { smuggling } from './smuggling.ts';
import { studioKills } from './studio-kills.ts';
import { upstreams } from './upstreams.ts';

/** Each group but the last is a test file, so that groups can run in parallel; the experiments of a group run in this order. */
export const groups = {
  /** Dependencies that are unavailable, and hostile clients and upstreams. */
  outages: [upstreams, slowClients, smuggling, hostile, redis, postgres, kafka, sigterm],
  /** Killed processes, and payments in progress. */
  crashes: [money, moneyKills, crashOneProcess, crashFleet, crashEmbedded],
  /** Two replicas of each process; and requests generated from the OpenAPI document. */
  separate: [separate, schemathesis],
  /** Devices on a clock of their own. */
  calendar: [days],
  /**
   * In no test. A test has the same attacks on one process, and a fleet takes half a minute to start. Campaign's tests repeat
   * each step of scoring, of processing and of a publish, and a job whose process was killed waits for minutes. Each kill of a
   * contact, an item, a dispute, a credit or a payment that waits is a start. A day of devices needs a fleet of its own. The
   * journey of devices has a publish and an archive, and how soon they are on a screen is a measurement. A world of a lift is
   * a test of Events.
   */
  long: [
    ...[hostileFleet, scoringKills, studioKills, contactKills, itemKills, moneyFlowKills],
    ...[day, publishOne, publishFleet, plantedLift],
  ],
} as const satisfies Record<string, readonly Experiment[]>;

export const experiments: readonly Experiment[] = Object.values(groups).flat();
