import { Kafka, logLevel, type Producer, type SASLOptions } from 'kafkajs';
import type { Logger } from 'pino';
import './kafkajs-clock.ts';
import './kafkajs-idle.ts';
import { byKeyHash } from './partitioner.ts';

/** Credentials for SASL. The mechanism `plain` is for connections over TLS only. */
export interface KafkaLogin {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly username: string;
  readonly password: string;
}

export interface KafkaOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Connects over TLS, trusting Node's list of authorities (`NODE_EXTRA_CA_CERTS` adds one). Default: false. */
  readonly tls?: boolean;
  /** Default: no authentication. */
  readonly login?: KafkaLogin | undefined;
  /** Prepended to each topic's and group's name, so that environments can share a broker. */
  readonly prefix?: string;
  /** Upper limit of the copies of a topic: the number of brokers in the cluster. Default: 1. */
  readonly replicationFactor?: number;
  /** Milliseconds without a heartbeat after which a group gives a consumer's partitions to others. Default: 6,000. */
  readonly sessionTimeout?: number;
  readonly logger: Logger;
}

/** Milliseconds between two attempts to reach a broker, at most: everything waits for the next one. */
export const maxRetryPauseMs = 2_000;

export function newKafkaClient({ clientId, brokers, tls = false, login, logger }: KafkaOptions): Kafka {
  return new Kafka({
    clientId,
    brokers: [...brokers],
    ssl: tls,
    ...(login && { sasl: login as SASLOptions }), // kafkajs declares a union with one member for each mechanism.
    connectionTimeout: 3_000,
    requestTimeout: 10_000,
    retry: { initialRetryTime: 100, maxRetryTime: maxRetryPauseMs, retries: 3 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => logger.warn({ kafka: entry.log.message, error: entry.log.error }, 'kafka'),
  });
}

/**
 * One batch in flight, acknowledged by all in-sync replicas: a batch that is retried may arrive twice, never out of order.
 * ADR 5 says why it is not kafkajs's idempotent producer.
 */
export const newProducer = (kafka: Kafka): Producer =>
  kafka.producer({ allowAutoTopicCreation: false, maxInFlightRequests: 1, createPartitioner: byKeyHash });
