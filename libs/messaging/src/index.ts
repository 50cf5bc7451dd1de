export * from './consumer.ts';
export { deadLetterTopic } from './dead-letters.ts';
export { type EventHandler, on, onBatch } from './handlers.ts';
export { createInProcessTransport } from './in-process.ts';
export { createKafkaTransport } from './kafka.ts';
export { observeMessaging } from './metrics.ts';
export * from './outbox.ts';
export { createRelay, type Relay, relayBatchSize } from './relay.ts';
export type { Message, Transport } from './transport.ts';
