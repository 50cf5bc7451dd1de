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

/** Each group is a test file, so that groups can run in parallel; the experiments of a group run in this order. */
export const groups = {
  /** Dependencies that are unavailable, and hostile clients and upstreams. */
  outages: [upstreams, slowClients, smuggling, redis, postgres, kafka, sigterm],
  /** Killed processes, and payments in progress. */
  crashes: [money, moneyKills, crashOneProcess, crashFleet, crashEmbedded],
  /** Two replicas of each process; and requests generated from the OpenAPI document. */
  separate: [separate, schemathesis],
} as const satisfies Record<string, readonly Experiment[]>;

export const experiments: readonly Experiment[] = Object.values(groups).flat();
