import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createVerifier, internalOf } from '@attribution/auth';
import type { ServiceName } from '@attribution/contracts';
import { migrate, type ProcessRole } from '@attribution/database';
import { createByteBudget, keptByClients, listen } from '@attribution/http';
import type { Transport } from '@attribution/messaging';
import {
  createLogger,
  delayFullCollections,
  observeProcess,
  onStopSignal,
  openProcessTracing,
  RoleSetting,
  type RunningRole,
  readConfig,
  stopTimeoutMs,
  withDeadline,
} from '@attribution/runtime';
import type { Logger } from 'pino';
import { z } from 'zod';
import { followDatabaseClock } from './database-clock.ts';
import type { ServiceDefinition } from './define-service.ts';
import { createFileBudget } from './file-budget.ts';
import { untilMigrated } from './migrated.ts';
import { type KafkaSettings, serviceSettings } from './roles.ts';

/** Runs one service, in the role that `ROLE` names, as its own process, configured by the environment. */
export async function runService(service: ServiceDefinition): Promise<void> {
  const { ROLE: role } = readConfig(z.object({ ROLE: RoleSetting }), process.env);
  if (role === 'migrate') await runMigrations(service);
  else await runRole(service, role);
}

async function runMigrations({ name, migrations, appendOnly }: ServiceDefinition): Promise<void> {
  const config = readConfig(serviceSettings.migrate, process.env);
  const role = config.DATABASE_PROCESS_ROLE;
  const processRole = role === undefined ? undefined : { name: role, appendOnly };
  await migrateDatabase(config.DATABASE_URL, migrations, newLogger(name, 'migrate', config), processRole);
}

async function runRole({ name, migrations, create }: ServiceDefinition, role: RunningRole): Promise<void> {
  delayFullCollections();
  observeProcess({ service: name, role });
  const config = readConfig(serviceSettings[role], process.env);
  const logger = newLogger(name, role, config);
  const tracing = await openProcessTracing(config, { service: name, role, logger });
  const url = config.DATABASE_URL;
  if (role === 'all') await migrateDatabase(url, migrations, logger);
  else await untilMigrated({ url, directory: fileURLToPath(migrations), logger });

  const clock = await followDatabaseClock({ url, logger });
  const now = () => clock.now().getTime();
  const transport = 'KAFKA_BROKERS' in config ? await openKafka(name, config, logger) : undefined;
  const service = create(
    {
      databaseUrl: url,
      poolSize: config.DATABASE_POOL_SIZE,
      statementTimeout: config.DATABASE_STATEMENT_TIMEOUT_MS,
      role,
      transport,
      verifier: createVerifier(config.TOKEN_PUBLIC_KEYS, now),
      internal: internalOf(name, config.INTERNAL_PRIVATE_KEYS, config.INTERNAL_PUBLIC_KEYS, now),
      logger,
      tracing,
      bodies: createByteBudget({ limit: config.BODY_BUDGET_BYTES }),
      files: createFileBudget(config.SPOOL_BUDGET_BYTES),
      problemBase: config.PROBLEM_BASE,
      checkAnswers: config.NODE_ENV !== 'production',
      clock,
    },
    process.env,
  );
  service.start();
  await transport?.start();
  const server = await listen(service.app, { host: config.HOST, port: config.PORT, problemBase: config.PROBLEM_BASE });
  logger.info({ port: server.port }, 'Listening');

  onStopSignal(async () => {
    service.retire();
    // No balancer sends requests to a worker, so it need not wait until they turn away.
    if (role !== 'worker') await sleep(config.LAME_DUCK_MS);
    const within = (ms: number) => Date.now() + ms;
    // A time for each step, not until when: what requests do not need is not spent on a broker that is away.
    await server.close(within(9_000), keptByClients);
    await withDeadline(within(1_000), transport?.stopConsuming());
    await service.drain(within(1_000));
    clock.stop();
    await withDeadline(within(500), Promise.allSettled([transport?.close(), service.close(), tracing.close()]));
    logger.info('Stopped');
  }, config.LAME_DUCK_MS + stopTimeoutMs);
}

/** Kafka's client is loaded here, because an api needs none of its hundred and fifty modules. */
async function openKafka(name: ServiceName, config: KafkaSettings, logger: Logger): Promise<Transport> {
  const { createKafkaTransport } = await import('@attribution/kafka');
  return createKafkaTransport({
    brokers: config.KAFKA_BROKERS,
    tls: config.KAFKA_TLS,
    login: loginOf(config),
    clientId: name,
    prefix: config.KAFKA_TOPIC_PREFIX,
    replicationFactor: config.KAFKA_REPLICATION_FACTOR,
    sessionTimeout: config.KAFKA_SESSION_TIMEOUT_MS,
    logger,
  });
}

const loginOf = ({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_USERNAME: username,
  KAFKA_PASSWORD: password,
}: KafkaSettings) => (username !== undefined && password !== undefined ? { mechanism, username, password } : undefined);

const newLogger = (name: ServiceName, role: string, { LOG_LEVEL: level }: { LOG_LEVEL: string }) => {
  const logger = createLogger({ name, level, pretty: process.stdout.isTTY });
  return role === 'all' ? logger : logger.child({ role });
};

/** Several processes may do this at the same time: one applies the missing migrations, and the others find them applied. */
async function migrateDatabase(url: string, migrations: URL, logger: Logger, processRole?: ProcessRole): Promise<void> {
  const applied = await migrate({ url, directory: fileURLToPath(migrations), processRole });
  if (applied.length > 0) logger.info({ applied }, 'Migrated the database');
}
