import { crashFindings } from '../crash/findings.ts';
import { openEmbedded } from '../crash/worlds/embedded.ts';
import type { Experiment } from '../experiment.ts';

/** `kill -9` of everything that `npm start` runs, including its Postgres: what was acknowledged survives. */
export const crashEmbedded: Experiment = {
  name: 'crash embedded',
  rounds: { short: 1, long: 50 },
  run: (lab) => crashFindings('`npm start` with its Postgres', ['random moment'], lab, () => openEmbedded(lab.chance)),
};
