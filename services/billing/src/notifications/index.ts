export { applyEvents, applyJob } from './apply-events.ts';
export { receiveStripeWebhookEndpoint } from './receive-webhook.ts';
export { purgeEvents, reconcile } from './reconcile.ts';
