import { type Principal, visibleGroupIds } from '@attribution/auth';
import { type Client, findCampaignsInSight, Problem } from '@attribution/contracts';
import { answerOf } from '../asked.ts';

/** Throws `not-found` for a campaign that the caller does not see, and `unavailable` where Campaign does not answer. */
export type RequireCampaign = (caller: Principal, id: string) => Promise<void>;

/** Asks Campaign, which alone says who sees a campaign (ADR 37). */
export const createRequireCampaign =
  (campaign: Client): RequireCampaign =>
  async (caller, id) => {
    const body = {
      ...{ account_id: caller.accountId, caller_id: caller.id, group_ids: visibleGroupIds(caller) },
      ids: [id],
    };
    const { ids } = (await answerOf(campaign.call(findCampaignsInSight, { body }))).body;
    if (!ids.includes(id)) throw Problem.notFound();
  };
