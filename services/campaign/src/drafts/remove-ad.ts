import { removeCampaignAd } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { deleteCampaignAd, touchCampaign } from './campaign-ad.store.ts';
import type { Dependencies } from './dependencies.ts';
import { lockDraftAd } from './lock-draft.ts';

export const removeAdEndpoint = ({ database, clock }: Dependencies) =>
  implementWrite(removeCampaignAd, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction(async (tx) => {
      const { campaign, ad } = await lockDraftAd(tx, caller, params);
      await deleteCampaignAd(tx, ad.id);
      await touchCampaign(tx, campaign.id, clock.now());
    }),
  );
