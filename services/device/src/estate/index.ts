export { followEstate } from './follow-estate.ts';
export { isInstalled } from './installation.store.ts';
export { isForeignLocation } from './location.store.ts';
