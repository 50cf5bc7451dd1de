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

/** In the order in which they run. */
export const experiments: readonly Experiment[] = [
  upstreams,
  slowClients,
  smuggling,
  redis,
  postgres,
  kafka,
  sigterm,
  separate,
  money,
  moneyKills,
  schemathesis,
  crashOneProcess,
  crashFleet,
  crashEmbedded,
];
