export {
  type CampaignWithAds,
  changeCampaign,
  findCampaign,
  lockCampaign,
  seesCampaign,
} from './campaign.store.ts';
export { requireDraft } from './campaign.ts';
export { type PosterUrl, viewCampaignAd, viewDetail } from './campaign.view.ts';
export { createCampaignEndpoint } from './create-campaign.ts';
export { findInSightEndpoint } from './find-in-sight.ts';
export { getCampaignEndpoint } from './get-campaign.ts';
export { listCampaignsEndpoint } from './list-campaigns.ts';
export { findPlannedAds, lockAdsOf, type PlannedAd } from './planned-ad.store.ts';
export { checkContent, reportCampaign, seekersOf } from './report.ts';
export { updateCampaignEndpoint } from './update-campaign.ts';
