import { type Principal, visibleGroupIds } from '@attribution/auth';
import { type Client, findCampaignsInSight, Problem } from '@attribution/contracts';
import { answerOf } from '../asked.ts';

/** Which of these campaigns the caller sees. Throws `unavailable` where Campaign does not answer. */
export type AskSight = (caller: Principal, ids: readonly string[]) => Promise<readonly string[]>;

/** Asks Campaign, which alone says who sees a campaign (ADR 37). */
export const createAskSight =
  (campaign: Client): AskSight =>
  async (caller, ids) => {
    const body = {
      ...{ account_id: caller.accountId, caller_id: caller.id, group_ids: visibleGroupIds(caller) },
      ids: [...ids],
    };
    return (await answerOf(campaign.call(findCampaignsInSight, { body }))).body.ids;
  };

/** Throws `not-found` for a campaign that the caller does not see. */
export async function requireCampaign(ask: AskSight, caller: Principal, id: string): Promise<void> {
  if (!(await ask(caller, [id])).includes(id)) throw Problem.notFound();
}
