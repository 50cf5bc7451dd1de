export { followLocations } from './follow-locations.ts';
export { findLocation, type KnownLocation } from './location.store.ts';
