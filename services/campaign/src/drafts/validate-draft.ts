import { Problem, validateCampaign } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findCampaign, reportCampaign } from '../campaigns/index.ts';
import type { Dependencies } from './dependencies.ts';

export const validateEndpoint = ({ database: { sql }, clock }: Dependencies) =>
  implement(validateCampaign, async ({ params, caller }) => {
    const campaign = await findCampaign(sql, caller, params.id);
    if (!campaign) throw Problem.notFound();
    if (campaign.status === 'archived')
      throw new Problem('conflict', 'The campaign is archived: it will not be published again.');
    return reportCampaign(sql, caller, campaign, clock.now());
  });
