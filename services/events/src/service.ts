import type { OpenDependencies, ServiceContents } from '@attribution/service';
import { blacklistEndpoints } from './blacklist/index.ts';
import { createAskSight, createAskVersions } from './campaigns/index.ts';
import type { EventsConfig } from './config.ts';
import { createAskEstate } from './estate/index.ts';
import { sendPlaysEndpoint, sendVisitsEndpoint } from './ingestion/index.ts';
import { loyaltyEndpoints } from './loyalty/index.ts';
import { partitionsJob } from './partitions/index.ts';
import { performanceEndpoints } from './performance/index.ts';
import { listPlaysEndpoint } from './plays/index.ts';
import { listQuarantineEndpoint } from './quarantine/index.ts';
import { createReadFigures } from './reading/index.ts';
import { rebuildEndpoint } from './rebuild/index.ts';
import { recomputeJob } from './recompute/index.ts';
import type { EventsDatabase, Tx } from './store.ts';
import * as visits from './visits/index.ts';

type Dependencies = OpenDependencies<EventsDatabase, EventsConfig, 'campaign' | 'organization'>;

export function openEvents({ database, outbox, clock, clients, config }: Dependencies): ServiceContents<Tx> {
  const own = { database, outbox, clock };
  const reading = { figures: createReadFigures(database), clock };
  const askSight = createAskSight(clients.campaign);
  const ask = {
    estate: createAskEstate(database, clients.organization),
    versions: createAskVersions(database, clients.campaign),
  };
  return {
    implementations: [
      sendVisitsEndpoint(own, ask),
      sendPlaysEndpoint(own, ask),
      visits.summarizeVisitsEndpoint(reading),
      visits.getVisitsTimeseriesEndpoint(reading),
      visits.getVisitsDwellEndpoint(reading),
      ...performanceEndpoints({ ...reading, askSight }),
      listPlaysEndpoint({ ...own, askSight }),
      listQuarantineEndpoint(own),
      ...loyaltyEndpoints(reading),
      ...blacklistEndpoints({ ...own, ask }),
      rebuildEndpoint(own),
    ],
    jobs: [recomputeJob(own), partitionsJob({ ...own, retentionDays: config.EVENTS_RETENTION_DAYS })],
  };
}
