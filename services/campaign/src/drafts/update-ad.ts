import { updateCampaignAd } from '@attribution/contracts';
import { implementWrite } from '@attribution/service';
import { viewCampaignAd } from '../campaigns/index.ts';
import { replacePlace, touchCampaign } from './campaign-ad.store.ts';
import { requireDistinct } from './campaign-ad.ts';
import type { Dependencies } from './dependencies.ts';
import { lockDraftAd } from './lock-draft.ts';

export const updateAdEndpoint = ({ database, clock, posterUrl }: Dependencies) =>
  implementWrite(updateCampaignAd, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx) => {
      const { campaign, ad } = await lockDraftAd(tx, caller, params);
      const { screen_tag = ad.screen_tag, position = ad.position } = body;
      // A score is for one tag.
      const place = { screen_tag, position, score: screen_tag === ad.screen_tag ? ad.score : null };
      const changed = { ...ad, ...place };
      requireDistinct(campaign.ads, changed);
      await replacePlace(tx, ad.id, place);
      await touchCampaign(tx, campaign.id, clock.now());
      return viewCampaignAd(changed, posterUrl);
    }),
  );
