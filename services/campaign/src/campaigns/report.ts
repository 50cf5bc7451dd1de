import type { Principal } from '@attribution/auth';
import type { Sql } from '@attribution/database';
import type { Seeker } from '../target/index.ts';
import { checkCampaign, findReach, type ReachFacts, type Report } from '../validation/index.ts';
import type { CampaignWithAds } from './campaign.store.ts';
import type { PlannedAd } from './planned-ad.store.ts';

/** The ads of a campaign, as they look for screens. */
export const seekersOf = (ads: readonly PlannedAd[]): Seeker[] =>
  ads.map(({ id, ad_id, screen_tag }) => ({ campaign_ad_id: id, ad_id, screen_tag }));

/** Checks the content of a campaign that reaches what the facts say. */
export const checkContent = (campaign: CampaignWithAds, reach: ReachFacts, now: Date): Report =>
  checkCampaign({ ...campaign, ads: campaign.ads.map(toChecked) }, reach, now);

/** The `latest_validation` of a campaign: as it is now, in the caller's eyes. It writes nothing. */
export async function reportCampaign(
  tx: Sql,
  caller: Principal,
  campaign: CampaignWithAds,
  now: Date,
): Promise<Report> {
  const reach = await findReach(tx, caller, campaign.target, seekersOf(campaign.ads));
  return checkContent(campaign, reach, now);
}

const toChecked = ({ probe, technical, kind, ...ad }: PlannedAd) => ({
  id: ad.id,
  screen_tag: ad.screen_tag,
  score: ad.score,
  duration_ms: ad.duration_ms,
  fit: ad.fit,
  muted: ad.muted,
  asset: probe && { kind, ...probe },
  decoding: technical,
});
