export { createKafkaTransport, type KafkaOptions } from './transport.ts';
