export { machine, table } from './report.ts';
export { quantile } from './statistics.ts';
