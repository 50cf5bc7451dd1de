import { findCampaignsInSight } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { findSeen } from './campaign.store.ts';

export const findInSightEndpoint = ({ sql }: CampaignDatabase) =>
  implement(findCampaignsInSight, async ({ body: { account_id, caller_id, group_ids, ids } }) => {
    const groups = group_ids && new Map(group_ids.map((id) => [id, 'm'] as const));
    return { ids: await findSeen(sql, { accountId: account_id, id: caller_id, groups }, ids) };
  });
