import type { Client } from '@attribution/contracts';
import * as contracts from '@attribution/contracts';
import { deleteEndpoint, getEndpoint, listEndpoint, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { createLocationEndpoint } from './create-location.ts';
import { locationKind } from './location.ts';
import { updateLocationEndpoint } from './update-location.ts';

export { locationKind, taxonomyOf } from './location.ts';
export { findZone, zoneUnknown } from './zone-of-point.ts';

export const locationEndpoints = (database: OrganizationDatabase, write: Writer, utilities: Client) => [
  listEndpoint(database, locationKind, contracts.listLocations),
  createLocationEndpoint(database, write, utilities),
  getEndpoint(database, locationKind, contracts.getLocation),
  updateLocationEndpoint(database, write),
  deleteEndpoint(database, write, locationKind, contracts.deleteLocation),
];
