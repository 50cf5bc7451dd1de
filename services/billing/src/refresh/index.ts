export { createRefresh } from './refresh.ts';
export { createWriteFor } from './write-for.ts';
