export { type AskSight, createAskSight, requireCampaign } from './ask-sight.ts';
export { type AskVersions, createAskVersions } from './ask-versions.ts';
export { followVersions } from './follow-versions.ts';
export { findAds, type KnownAd } from './version.store.ts';
