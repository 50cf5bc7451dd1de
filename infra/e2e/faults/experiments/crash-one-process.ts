import { crashFindings } from '../crash/findings.ts';
import type { Target } from '../crash/kill/rounds.ts';
import { inProcessPoints, openOneProcess } from '../crash/worlds/one-process.ts';
import type { Experiment } from '../experiment.ts';

const targets: readonly Target[] = ['random moment', ...inProcessPoints];
/** The short form of `crash embedded` kills the same platform at a random moment. */
const shortTargets: readonly Target[] = inProcessPoints;

/** `kill -9` of the whole platform in one process: nothing acknowledged is lost, every event takes effect once, in order. */
export const crashOneProcess: Experiment = {
  name: 'crash one process',
  rounds: { short: 1, long: 50 },
  run: (lab) => crashFindings('one process', lab.long ? targets : shortTargets, lab, () => openOneProcess()),
};
