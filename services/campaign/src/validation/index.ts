export { enlargement, shapeDifference } from './kind-checks.ts';
export { findReach, type ReachFacts, reachFacts } from './reach-facts.store.ts';
export { firstError, type Report } from './report.ts';
export { checkCampaign } from './validate-campaign.ts';
