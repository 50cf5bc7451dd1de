import { addCampaignAd, Problem } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { implementWrite } from '@attribution/service';
import { findPlannedAds, viewCampaignAd } from '../campaigns/index.ts';
import { insertCampaignAd, touchCampaign, useAd } from './campaign-ad.store.ts';
import { nextPosition, requireDistinct, requireRoomForAd } from './campaign-ad.ts';
import type { Dependencies } from './dependencies.ts';
import { lockDraft } from './lock-draft.ts';

export const addAdEndpoint = ({ database, clock, posterUrl }: Dependencies) =>
  implementWrite(addCampaignAd, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx) => {
      const { id: campaign_id, ads } = await lockDraft(tx, caller, params.id);
      const { ad_id, screen_tag, position = nextPosition(ads) } = body;
      if (!(await useAd(tx, caller, ad_id)))
        throw new Problem('unprocessable', `body.ad_id: there is no ad ${ad_id} in this account.`);
      const id = newId('campaign_ad');
      requireDistinct(ads, { id, ad_id, screen_tag });
      requireRoomForAd(ads);
      const now = clock.now();
      await insertCampaignAd(tx, { id, campaign_id, ad_id, screen_tag, position, score: null, created_at: now });
      await touchCampaign(tx, campaign_id, now);
      const made = (await findPlannedAds(tx, campaign_id)).find((ad) => ad.id === id);
      if (!made) throw new Error('A campaign ad that was just inserted is there');
      return viewCampaignAd(made, posterUrl);
    }),
  );
