export { followPlacements } from './follow-placements.ts';
export { placingInstant } from './instant.ts';
export { listPlacementsEndpoint } from './list-placements.ts';
export { lockPlacing } from './lock.store.ts';
export { closeAll, type Placed, place } from './place.store.ts';
