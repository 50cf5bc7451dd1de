import { KeySet, TokenPublicKeysSetting } from '@attribution/auth';
import { budgetSettings, processSettings, type Role, servingSettings, setting } from '@attribution/runtime';
import { z } from 'zod';

/** The settings of every process that opens databases. */
export const databaseSettings = {
  DATABASE_POOL_SIZE: setting.count.default(10).meta({ description: 'How many connections it opens at most' }),
  DATABASE_STATEMENT_TIMEOUT_MS: setting.count.default(5_000).meta({
    description: 'Milliseconds after which a statement is given up; a second later so is a server that says nothing',
  }),
};

const { NODE_ENV, LOG_LEVEL, REQUIRE_TLS } = processSettings;

const DATABASE_URL = z.url().meta({
  description: 'Its own database; brought up to date at the start by `ROLE=all`, else by `ROLE=migrate`',
  secret: true,
  example: 'postgresql://somebody:something@database/name?sslmode=verify-full',
});

/** Any other `sslmode` of libpq does without TLS, or without checking who answers. */
const verifiesServer = (url: string) => new URL(url).searchParams.getAll('sslmode').join() === 'verify-full';

const overTls = <S extends z.ZodType<{ readonly REQUIRE_TLS: boolean; readonly DATABASE_URL: string }>>(schema: S): S =>
  schema.refine((read) => !read.REQUIRE_TLS || verifiesServer(read.DATABASE_URL), {
    message: 'needs sslmode=verify-full, because REQUIRE_TLS is true',
    path: ['DATABASE_URL'],
  });

const running = {
  ...servingSettings,
  ...budgetSettings,
  TOKEN_PUBLIC_KEYS: TokenPublicKeysSetting,
  DATABASE_URL,
  ...databaseSettings,
  INTERNAL_PRIVATE_KEYS: setting.json(KeySet).meta({
    description:
      "The JSON Web Key Set that it signs its calls of other services with; a `kid` begins with the service's name and a dot",
    secret: true,
  }),
  INTERNAL_PUBLIC_KEYS: setting.json(KeySet).meta({
    description: 'The public halves of those of all services, by which it knows who calls',
  }),
};

const messaging = {
  KAFKA_BROKERS: setting.list.meta({ description: 'Comma-joined `host:port`' }),
  KAFKA_TLS: setting.flag.default(false).meta({
    description: 'Whether brokers are asked over TLS; `NODE_EXTRA_CA_CERTS` adds an authority of your own',
  }),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .default('scram-sha-512')
    .meta({ description: 'How it logs in at the cluster; `plain` needs `KAFKA_TLS=true`' }),
  KAFKA_USERNAME: z.string().optional().meta({
    description: 'How the cluster knows it; given together with `KAFKA_PASSWORD`, or not at all',
    secret: true,
    example: 'campaign',
  }),
  KAFKA_PASSWORD: z
    .string()
    .optional()
    .meta({ description: 'See `KAFKA_USERNAME`', secret: true, example: 'something' }),
  KAFKA_TOPIC_PREFIX: z.string().default('').meta({
    description: 'Stands before the name of each topic and consumer group, where several fleets share a cluster',
  }),
  KAFKA_REPLICATION_FACTOR: setting.count.default(1).meta({
    description:
      'How many copies of a topic the cluster can hold at most, which is how many brokers it has; a topic may declare fewer',
  }),
  /** The least that brokers allow: after a consumer died, the events of its partitions wait that long. */
  KAFKA_SESSION_TIMEOUT_MS: setting.count.default(6_000).meta({
    description:
      'Milliseconds of silence after which the partitions of a replica that died go to others; brokers allow no less',
  }),
};

export type KafkaSettings = z.output<z.ZodObject<typeof messaging>>;

const working = overTls(z.object({ ...running, ...messaging }))
  .refine((read) => read.KAFKA_TLS || !read.REQUIRE_TLS, {
    message: 'must be true, because REQUIRE_TLS is',
    path: ['KAFKA_TLS'],
  })
  .refine((read) => (read.KAFKA_USERNAME === undefined) === (read.KAFKA_PASSWORD === undefined), {
    message: 'is given together with KAFKA_PASSWORD, or not at all',
    path: ['KAFKA_USERNAME'],
  })
  .refine((read) => read.KAFKA_TLS || read.KAFKA_SASL_MECHANISM !== 'plain', {
    message: 'sends the password as it is: for KAFKA_TLS=true alone',
    path: ['KAFKA_SASL_MECHANISM'],
  });

/** The settings of every service's processes, by role. A service's own settings are in its definition. */
export const serviceSettings = {
  api: overTls(z.object(running)),
  worker: working,
  all: working,
  migrate: overTls(
    z.object({
      ...{ NODE_ENV, LOG_LEVEL, REQUIRE_TLS, DATABASE_URL },
      DATABASE_PROCESS_ROLE: z.string().optional().meta({
        description:
          'The role that the api and the worker connect as, if it is not the owner, who migrates: it gets rights to rows alone, and of append-only tables none to change them',
        example: 'account_process',
      }),
    }),
  ),
} as const satisfies Record<Role, z.ZodObject>;
