export type { KafkaOptions } from './client.ts';
export { createKafkaTransport } from './transport.ts';
