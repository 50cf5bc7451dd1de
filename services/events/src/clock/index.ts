export { clockOffset, corrected, type Interval } from './offset.ts';
export { type QuarantineReason, quarantineReason } from './quarantine.ts';
