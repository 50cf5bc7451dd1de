export { createLocationEndpoint } from './create-location.ts';
export { deleteLocationEndpoint } from './delete-location.ts';
export { getLocationEndpoint } from './get-location.ts';
export { listLocationsEndpoint } from './list-locations.ts';
export { updateLocationEndpoint } from './update-location.ts';
