export { deleteLimits } from './limit.store.ts';
export { onLimitsChanged } from './on-limits-changed.ts';
export { findRoom, limitOf, requireRoom } from './room.ts';
