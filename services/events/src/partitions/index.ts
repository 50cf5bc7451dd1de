export { findKeptSince } from './partition.store.ts';
export { partitionsJob } from './partitions.ts';
