export { type AskEstate, createAskEstate } from './ask-estate.ts';
export { followEstate } from './follow-estate.ts';
export { findLocation, findLocationsOf, findScreens, findZones, type KnownScreen } from './place.store.ts';
