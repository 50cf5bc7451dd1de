export { estateSnapshotEndpoint } from './estate-snapshot.ts';
export { lookUpEstateEndpoint } from './look-up-estate.ts';
