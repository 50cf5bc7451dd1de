import { campaignEvents } from '@attribution/contracts';
import { openService, type Service, type ServiceParts } from '@attribution/service';
import * as campaigns from './campaigns/index.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { onGroupCreated, onGroupDeleted } from './groups/index.ts';
import type { Tx } from './store.ts';

/** Campaigns. */
export function createCampaignService(parts: ServiceParts): Service {
  const service = openService<PrismaClient, Tx>(
    'campaign',
    parts,
    (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }),
  );
  const { database, outbox, clock } = service;

  return service.assemble({
    publishes: [campaignEvents],
    implementations: [
      campaigns.listCampaignsEndpoint(database),
      campaigns.createCampaignEndpoint({ database, outbox, clock }),
      campaigns.getCampaignEndpoint(database),
      campaigns.updateCampaignEndpoint({ database, clock }),
    ],
    handlers: [onGroupCreated, onGroupDeleted],
  });
}
