import type { Experiment } from '../experiment.ts';
import { crashEmbedded } from './crash-embedded.ts';
import { crashFleet } from './crash-fleet.ts';
import { crashOneProcess } from './crash-one-process.ts';
import { kafka } from './kafka.ts';
import { money } from './money.ts';
import { moneyKills } from './money-kills.ts';
import { postgres } from './postgres.ts';
import { redis } from './redis.ts';
import { schemathesis } from './schemathesis.ts';
import { separate } from './separate.ts';
import { sigterm } from './sigterm.ts';
import { slowClients } from './slow-clients.ts';
import { smuggling } from './smuggling.ts';
import { upstreams } from './upstreams.ts';

/** Each group is a test file, so that they take turns with others; in the order in which they run. */
export const groups = {
  /** What stands beside a service, away or hostile. */
  outages: [upstreams, slowClients, smuggling, redis, postgres, kafka, sigterm],
  /** Processes that die, and money that is on its way. */
  crashes: [money, moneyKills, crashOneProcess, crashFleet, crashEmbedded],
  /** Two of each process, each on its own; and every request that a schema allows. */
  separate: [separate, schemathesis],
} as const satisfies Record<string, readonly Experiment[]>;

export const experiments: readonly Experiment[] = Object.values(groups).flat();
