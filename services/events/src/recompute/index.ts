export { recomputeJob } from './recompute.ts';
