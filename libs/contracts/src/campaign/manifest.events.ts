import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { id } from '../wire/ids.ts';

export const campaignManifests = topic({ name: 'campaign.manifests', owner: 'campaign', partitions: 6 });

export const manifestChanged = event({
  type: 'manifest.changed',
  topic: campaignManifests,
  version: 1,
  key: (data) => data.device_id,
  data: z.object({
    device_id: id('device'),
    account_id: id('account'),
    version: z.int().min(1),
    hash: z.string(),
  }),
});
