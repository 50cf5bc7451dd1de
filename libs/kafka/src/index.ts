export type { KafkaOptions } from './client.ts';
export { untilTopicsKnown } from './topics.ts';
export { createKafkaTransport } from './transport.ts';
