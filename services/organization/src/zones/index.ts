import * as contracts from '@attribution/contracts';
import { deleteEndpoint, getEndpoint, listEndpoint, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { createZoneEndpoint } from './create-zone.ts';
import { updateZoneEndpoint } from './update-zone.ts';
import { zoneKind } from './zone.ts';

export { inZone } from './in-zone.ts';
export { zoneKind } from './zone.ts';

export const zoneEndpoints = (database: OrganizationDatabase, write: Writer) => [
  listEndpoint(database, zoneKind, contracts.listZones),
  createZoneEndpoint(database, write),
  getEndpoint(database, zoneKind, contracts.getZone),
  updateZoneEndpoint(database, write),
  deleteEndpoint(database, write, zoneKind, contracts.deleteZone),
];
