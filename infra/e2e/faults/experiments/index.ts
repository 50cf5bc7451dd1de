import type { Experiment } from '../experiment.ts';

/** In the order in which they run. */
export const experiments: readonly Experiment[] = [];
