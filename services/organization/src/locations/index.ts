import * as contracts from '@attribution/contracts';
import { deleteEndpoint, getEndpoint, listEndpoint, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { createLocationEndpoint } from './create-location.ts';
import { locationKind } from './location.ts';
import { updateLocationEndpoint } from './update-location.ts';

export { locationKind, taxonomyOf } from './location.ts';

export const locationEndpoints = (database: OrganizationDatabase, write: Writer) => [
  listEndpoint(database, locationKind, contracts.listLocations),
  createLocationEndpoint(database, write),
  getEndpoint(database, locationKind, contracts.getLocation),
  updateLocationEndpoint(write),
  deleteEndpoint(write, locationKind, contracts.deleteLocation),
];
