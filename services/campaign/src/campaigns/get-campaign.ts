import { getCampaign, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { findCampaign } from './campaign.store.ts';
import { type PosterUrl, viewDetail } from './campaign.view.ts';
import { reportCampaign } from './report.ts';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
  readonly posterUrl: PosterUrl;
}

export const getCampaignEndpoint = ({ database: { sql }, clock, posterUrl }: Dependencies) =>
  implement(getCampaign, async ({ params, caller }) => {
    const campaign = await findCampaign(sql, caller, params.id);
    if (!campaign) throw Problem.notFound();
    return viewDetail(campaign, await reportCampaign(sql, caller, campaign, clock.now()), posterUrl);
  });
