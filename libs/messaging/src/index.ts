export { observeBroker } from './broker-metrics.ts';
export { type CatchUpParts, catchUp } from './catch-up.ts';
export * from './consumer.ts';
export { deadLetterTopic } from './dead-letters.ts';
export { observeEvents } from './event-metrics.ts';
export { type EventHandler, on, onBatch } from './handlers.ts';
export { createInProcessTransport } from './in-process.ts';
export { observeMessaging } from './metrics.ts';
export * from './outbox.ts';
export { lockProjections, projection } from './projection.ts';
export { createRelay, type Relay, relayBatchSize } from './relay.ts';
export {
  asError,
  byKey,
  type Failure,
  type Lag,
  laneOf,
  type Message,
  type Missed,
  type PublishResult,
  type Subscription,
  type Transport,
  undone,
} from './transport.ts';
export { readEnvelope, type Unreadable, unreadable } from './unreadable.ts';
