export { bundlesOf } from './bundles.ts';
