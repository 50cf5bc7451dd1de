import type { OpenDependencies, ServiceContents } from '@attribution/service';
import { cameraEndpoints } from './cameras/index.ts';
import { createWriter } from './estate/index.ts';
import { exportEstateEndpoint } from './exports/index.ts';
import { groupEndpoints, onAccountCreated } from './groups/index.ts';
import { importEndpoints, importJob, runImports } from './imports/index.ts';
import { installationEndpoints } from './installations/index.ts';
import { onLimitsChanged } from './limits/index.ts';
import { locationEndpoints } from './locations/index.ts';
import { matchScreensEndpoint } from './match/index.ts';
import { onAccountPurged, purgeJob } from './purge/index.ts';
import { screenEndpoints } from './screens/index.ts';
import { estateSnapshotEndpoint, lookUpEstateEndpoint } from './snapshot/index.ts';
import type { OrganizationDatabase, Tx } from './store.ts';
import { zoneEndpoints } from './zones/index.ts';

type OrganizationDependencies = OpenDependencies<OrganizationDatabase, object, 'utilities'>;

export function openOrganization(dependencies: OrganizationDependencies): ServiceContents<Tx> {
  const { database, outbox, clock, logger, wake, clients } = dependencies;
  const write = createWriter({ outbox, clock });

  return {
    implementations: [
      matchScreensEndpoint(database), // Before the endpoint of one screen, whose path would take "match" for an id.
      ...groupEndpoints(database, write),
      ...locationEndpoints(database, write, clients.utilities),
      ...zoneEndpoints(database, write),
      ...screenEndpoints(database, write),
      ...installationEndpoints(database, write),
      ...cameraEndpoints(database, write),
      ...importEndpoints({ database, clock, wake: () => wake(importJob) }),
      exportEstateEndpoint(database),
      estateSnapshotEndpoint(database),
      lookUpEstateEndpoint(database),
    ],
    handlers: [onAccountCreated(outbox), onLimitsChanged, onAccountPurged(() => wake(purgeJob))],
    jobs: [runImports({ database, outbox, clock, logger, utilities: clients.utilities })],
  };
}
