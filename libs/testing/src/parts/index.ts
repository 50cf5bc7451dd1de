export { findKafka } from './kafka.ts';
export { startKafka } from './kafka-broker.ts';
export type { NoPart, Part } from './part.ts';
export { freePort } from './port.ts';
export { programOr } from './program.ts';
export { findRedis } from './redis.ts';
export { findSchemathesis } from './schemathesis.ts';
export { findStripeMock } from './stripe-mock.ts';
