export { createCampaignEndpoint } from './create-campaign.ts';
export { getCampaignEndpoint } from './get-campaign.ts';
export { listCampaignsEndpoint } from './list-campaigns.ts';
export { updateCampaignEndpoint } from './update-campaign.ts';
