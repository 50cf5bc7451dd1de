export { applyEvents, applyJob } from './apply-events.ts';
export { receiveStripeWebhookEndpoint } from './receive-webhook.ts';
export { housekeeping, reconcile } from './reconcile.ts';
