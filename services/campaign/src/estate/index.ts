export { takeChangedScreens } from './changed-screen.store.ts';
export { followEstate } from './follow-estate.ts';
export { screensOf } from './screen.store.ts';
export { estateIsRead, isEstateRead } from './snapshot.store.ts';
