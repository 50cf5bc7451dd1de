export { type ArmSums, sumClusters } from './clusters.ts';
export { confidence, type Design, liftOf } from './lift.ts';
export type { PlayedHours } from './sample-ratio.ts';
