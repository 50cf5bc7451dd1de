import { organizationEvents } from '@attribution/contracts';
import { openService, type Service, type ServiceParts } from '@attribution/service';
import { PrismaClient } from './generated/prisma/client.ts';
import * as groups from './groups/index.ts';
import * as locations from './locations/index.ts';
import type { Tx } from './store.ts';

/** The physical estate: groups and their locations. */
export function createOrganizationService(parts: ServiceParts): Service {
  const service = openService<PrismaClient, Tx>(
    'organization',
    parts,
    (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }),
  );
  const { database, outbox, clock } = service;
  const writing = { database, outbox, clock };

  return service.assemble({
    publishes: [organizationEvents],
    implementations: [
      groups.listGroupsEndpoint(database),
      groups.createGroupEndpoint(writing),
      groups.getGroupEndpoint(database),
      groups.updateGroupEndpoint(writing),
      groups.deleteGroupEndpoint(writing),
      groups.lookUpGroupsEndpoint(database),
      locations.listLocationsEndpoint(database),
      locations.createLocationEndpoint(writing),
      locations.getLocationEndpoint(database),
      locations.updateLocationEndpoint(writing),
      locations.deleteLocationEndpoint(writing),
    ],
    handlers: [groups.onAccountCreated(outbox), groups.onAccountPurged(outbox)],
  });
}
