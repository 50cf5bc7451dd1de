export { observeBroker } from './broker-metrics.ts';
export { type CatchUpDependencies, catchUp } from './catch-up.ts';
export { byReference, type Completion, type Reference } from './completion.ts';
export * from './consumer.ts';
export { deadLetterTopic } from './dead-letters.ts';
export { observeEvents } from './event-metrics.ts';
export { type EventHandler, type HandlerOptions, on, onBatch } from './handlers.ts';
export { createInProcessTransport } from './in-process.ts';
export { observeMessaging } from './metrics.ts';
export * from './outbox.ts';
export { lockProjections, type Projection, projection } from './projection.ts';
export { createRelay, type Relay, relayBatchSize } from './relay.ts';
export {
  asError,
  type Lag,
  type Message,
  type Missed,
  messagesLeft,
  orderingKey,
  type PublishResult,
  type Subscription,
  splitByKey,
  type Transport,
} from './transport.ts';
export { readEnvelope, type Unreadable, unreadable } from './unreadable.ts';
