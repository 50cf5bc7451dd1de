import { campaignEvents, createClient } from '@attribution/contracts';
import { openService, type Service, type ServiceParts, traceHeaders } from '@attribution/service';
import * as campaigns from './campaigns/index.ts';
import { readCampaignConfig } from './config.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { catchUpGroups, knownGroups } from './groups/index.ts';
import type { Tx } from './store.ts';

/** Of a page of another service's things, milliseconds. */
const pageTimeout = 5_000;

/** Campaigns. */
export function createCampaignService(
  parts: ServiceParts,
  environment: Readonly<Record<string, string | undefined>>,
): Service {
  const config = readCampaignConfig(environment);
  const service = openService<PrismaClient, Tx>(
    'campaign',
    parts,
    (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }),
  );
  const { database, outbox, clock, logger } = service;
  const organization = createClient({
    baseUrl: config.ORGANIZATION_URL,
    token: () => parts.internal.sign('organization'),
    headers: traceHeaders,
    timeout: pageTimeout,
  });

  return service.assemble({
    publishes: [campaignEvents],
    implementations: [
      campaigns.listCampaignsEndpoint(database),
      campaigns.createCampaignEndpoint({ database, outbox, clock }),
      campaigns.getCampaignEndpoint(database),
      campaigns.updateCampaignEndpoint({ database, clock }),
    ],
    handlers: knownGroups.handlers,
    jobs: [catchUpGroups({ database, organization, logger })],
  });
}
