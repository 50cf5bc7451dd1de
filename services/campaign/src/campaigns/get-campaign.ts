import { getCampaign, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { findCampaign } from './campaign.store.ts';
import { viewDetail } from './campaign.view.ts';

export const getCampaignEndpoint = ({ sql }: CampaignDatabase) =>
  implement(getCampaign, async ({ params, caller }) => {
    const campaign = await findCampaign(sql, caller, params.id);
    if (!campaign) throw Problem.notFound();
    return viewDetail(campaign);
  });
