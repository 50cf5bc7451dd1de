export { announceSubscriptions } from './announce.ts';
export { cancelSubscriptionEndpoint } from './cancel-subscription.ts';
export { changePlanEndpoint } from './change-plan.ts';
export { resumeSubscriptionEndpoint } from './resume-subscription.ts';
export { findLatestSubscription } from './subscription.store.ts';
export { isOver } from './subscription.ts';
export { writeSubscription } from './write-subscription.ts';
