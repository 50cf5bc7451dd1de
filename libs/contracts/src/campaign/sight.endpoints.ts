import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { id } from '../wire/ids.ts';

/** For a service with figures of campaigns. Who sees a campaign is Campaign's to say, and may change at any time. */
export const findCampaignsInSight = endpoint({
  operation: 'find_campaigns_in_sight',
  method: 'POST',
  path: '/internal/v2/campaigns/in-sight',
  service: 'campaign',
  summary: 'Which of these campaigns a caller sees',
  changes_nothing: true,
  access: { credential: 'internal', callers: ['events'] },
  body: z.object({
    account_id: id('account'),
    caller_id: z.string().min(1).meta({ description: 'The user or key' }),
    group_ids: z.array(z.string()).nullable().meta({ description: 'The groups of a narrowed caller; null: all' }),
    ids: z.array(z.string()).max(100),
  }),
  success: {
    status: 200,
    description: 'Those that exist and are seen',
    body: z.object({ ids: z.array(id('campaign')) }),
  },
});
