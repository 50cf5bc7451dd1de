import { KeySet, KeysSetting } from '@attribution/auth';
import { lameDuckMs, processSettings, type Role, setting, tracingSettings } from '@attribution/runtime';
import { z } from 'zod';

/** What every process that opens databases reads. */
export const databaseSettings = {
  DATABASE_POOL_SIZE: setting.count.default(10),
  DATABASE_STATEMENT_TIMEOUT_MS: setting.count.default(5_000),
};

const { NODE_ENV, LOG_LEVEL } = processSettings;

const running = {
  ...processSettings,
  ...tracingSettings,
  PORT: setting.port.default(8080),
  LAME_DUCK_MS: setting.count.default(lameDuckMs),
  DATABASE_URL: z.url(),
  ...databaseSettings,
  TOKEN_PUBLIC_KEYS: KeysSetting,
  INTERNAL_PRIVATE_KEYS: setting.json(KeySet),
  INTERNAL_PUBLIC_KEYS: setting.json(KeySet),
};

const messaging = {
  KAFKA_BROKERS: setting.list,
  KAFKA_TLS: setting.flag.default(false),
  KAFKA_SASL_MECHANISM: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).default('scram-sha-512'),
  KAFKA_USERNAME: z.string().optional(),
  KAFKA_PASSWORD: z.string().optional(),
  KAFKA_TOPIC_PREFIX: z.string().default(''),
  KAFKA_REPLICATION_FACTOR: setting.count.default(1),
  /** The least that brokers allow: as long may a group wait for one that died, with the events of its partitions. */
  KAFKA_SESSION_TIMEOUT_MS: setting.count.default(6_000),
};

export type KafkaSettings = z.output<z.ZodObject<typeof messaging>>;

const working = z
  .object({ ...running, ...messaging })
  .refine((read) => (read.KAFKA_USERNAME === undefined) === (read.KAFKA_PASSWORD === undefined), {
    message: 'is given together with KAFKA_PASSWORD, or not at all',
    path: ['KAFKA_USERNAME'],
  })
  .refine((read) => read.KAFKA_TLS || read.KAFKA_SASL_MECHANISM !== 'plain', {
    message: 'sends the password as it is: for KAFKA_TLS=true alone',
    path: ['KAFKA_SASL_MECHANISM'],
  });

/** What every service's process reads, by its role; what a service reads besides is in its own `config.ts`. */
export const serviceSettings = {
  api: z.object(running),
  worker: working,
  all: working,
  migrate: z.object({ NODE_ENV, LOG_LEVEL, DATABASE_URL: z.url() }),
} as const satisfies Record<Role, z.ZodObject>;
