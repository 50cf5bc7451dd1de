import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type CampaignWithAds, lockCampaign, type PlannedAd, requireDraft } from '../campaigns/index.ts';

/** Locks a campaign to change its draft. Throws `not-found`, or `conflict` outside draft. */
export async function lockDraft(tx: Sql, caller: Principal, id: string): Promise<CampaignWithAds> {
  const campaign = await lockCampaign(tx, caller, id);
  if (!campaign) throw Problem.notFound();
  requireDraft(campaign.status);
  return campaign;
}

/** The same for one of its ads. That it does not exist comes before the state of the campaign. */
export async function lockDraftAd(
  tx: Sql,
  caller: Principal,
  params: { readonly id: string; readonly campaign_ad_id: string },
): Promise<{ campaign: CampaignWithAds; ad: PlannedAd }> {
  const campaign = await lockCampaign(tx, caller, params.id);
  const ad = campaign?.ads.find(({ id }) => id === params.campaign_ad_id);
  if (!campaign || !ad) throw Problem.notFound();
  requireDraft(campaign.status);
  return { campaign, ad };
}
