import { campaignEvents } from '@attribution/contracts';
import { defineService, followGroups } from '@attribution/service';
import { z } from 'zod';
import * as campaigns from './campaigns/index.ts';
import { openCampaignDatabase } from './store.ts';

export default defineService({
  name: 'campaign',
  summary: 'Campaigns as drafts: create, list, read, change',
  migrations: new URL('../prisma/migrations', import.meta.url),
  settings: z.object({}),
  calls: { organization: ['worker'] },
  publishes: [campaignEvents],
  follows: { groups: followGroups },
  openDatabase: openCampaignDatabase,
  open: ({ database, outbox, clock }) => ({
    implementations: [
      campaigns.listCampaignsEndpoint(database),
      campaigns.createCampaignEndpoint({ database, outbox, clock }),
      campaigns.getCampaignEndpoint(database),
      campaigns.updateCampaignEndpoint({ database, clock }),
    ],
  }),
});
