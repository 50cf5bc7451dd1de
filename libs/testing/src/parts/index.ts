export { findKafka, type KafkaOptions } from './kafka.ts';
export { type Broker, type BrokerOptions, startKafka } from './kafka-broker.ts';
export type { NoPart, Part } from './part.ts';
export { findRedis, type RedisOptions } from './redis.ts';
