import { campaignRevised, Problem, reviseCampaign } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { implementWrite } from '@attribution/service';
import { changeCampaign, lockCampaign, reportCampaign, viewDetail } from '../campaigns/index.ts';
import type { Dependencies } from './dependencies.ts';
import { requireStep } from './states.ts';

export const reviseEndpoint = ({ database, outbox, clock, posterUrl }: Dependencies) =>
  implementWrite(reviseCampaign, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction(async (tx) => {
      const campaign = await lockCampaign(tx, caller, params.id);
      if (!campaign) throw Problem.notFound();
      requireStep('revise', campaign);
      const now = clock.now();
      const draft = await changeCampaign(tx, campaign, { status: 'draft' }, now);
      const { id, account_id } = draft;
      const data = { campaign_id: id, account_id, version: draft.live_version ?? 1 };
      await outbox.append(tx, newEvent(campaignRevised, data, { accountId: account_id, occurredAt: now }));
      return viewDetail(draft, await reportCampaign(tx, caller, draft, now), posterUrl);
    }),
  );
