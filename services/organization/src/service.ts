import { organizationEvents } from '@attribution/contracts';
import { openService, purgeJobs, type Service, type ServiceParts } from '@attribution/service';
import { cameraEndpoints } from './cameras/index.ts';
import { createWriter } from './estate/index.ts';
import { exportEstateEndpoint } from './exports/index.ts';
import type { PrismaClient } from './generated/prisma/client.ts';
import { groupEndpoints, onAccountCreated } from './groups/index.ts';
import { housekeeping } from './housekeeping.ts';
import { importEndpoints, importJob, runImports } from './imports/index.ts';
import { installationEndpoints } from './installations/index.ts';
import { locationEndpoints } from './locations/index.ts';
import { matchScreensEndpoint } from './match/index.ts';
import { onAccountPurged, purgeJob } from './purge/index.ts';
import { screenEndpoints } from './screens/index.ts';
import { estateSnapshotEndpoint } from './snapshot/index.ts';
import { newClient, type Tx } from './store.ts';
import { zoneEndpoints } from './zones/index.ts';

/** The physical estate: groups ▸ locations ▸ zones ▸ screens, with installations and cameras. */
export function createOrganizationService(parts: ServiceParts): Service {
  const service = openService<PrismaClient, Tx>('organization', parts, newClient);
  const { database, outbox, clock } = service;
  const write = createWriter({ database, outbox, clock });

  return service.assemble({
    publishes: [organizationEvents],
    implementations: [
      matchScreensEndpoint(database), // Before the screen of an id: "match" is none.
      ...groupEndpoints(database, write),
      ...locationEndpoints(database, write),
      ...zoneEndpoints(database, write),
      ...screenEndpoints(database, write),
      ...installationEndpoints(database, write),
      ...cameraEndpoints(database, write),
      ...importEndpoints({ database, clock, wake: () => service.wake(importJob) }),
      exportEstateEndpoint(database),
      estateSnapshotEndpoint(database),
    ],
    handlers: [onAccountCreated(outbox), onAccountPurged(() => service.wake(purgeJob))],
    jobs: [
      runImports({ database, outbox, clock, logger: service.logger }),
      ...purgeJobs(housekeeping({ database, outbox, clock }), { [purgeJob]: 60_000 }),
    ],
  });
}
