export { keptSince } from './kept.ts';
export { listQuarantineEndpoint } from './list-quarantine.ts';
