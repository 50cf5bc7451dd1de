import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { id } from '../wire/ids.ts';

export const campaignEvents = topic({ name: 'campaign.events', owner: 'campaign', partitions: 6 });

export const campaignCreated = event({
  type: 'campaign.created',
  topic: campaignEvents,
  version: 1,
  key: (data) => data.campaign_id,
  data: z.object({
    campaign_id: id('campaign'),
    account_id: id('account'),
    group_id: id('group').nullable(),
    name: z.string(),
    created_by: z.string(),
  }),
});
