export { estimatedLocations } from './estimate.store.ts';
export { type Reached, type ReachSummary, reachOf, type Seeker } from './reach.store.ts';
export { type CampaignTarget, emptyTarget, isEmpty } from './target.ts';
export { requireTargetIds } from './target-ids.store.ts';
