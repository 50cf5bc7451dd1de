import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createVerifier, internalOf, KeySet, KeysSetting } from '@attribution/auth';
import type { ServiceName } from '@attribution/contracts';
import { migrate } from '@attribution/database';
import { createKafkaTransport } from '@attribution/messaging';
import { z } from 'zod';
import { by } from './by.ts';
import { databaseSettings, lameDuckMs, processSettings, readConfig, setting } from './config.ts';
import { listen } from './http-server.ts';
import { createLogger } from './logger.ts';
import { observeProcess } from './metrics.ts';
import type { Service, ServiceParts } from './service.ts';

/** SIGTERM to exit, milliseconds at most; a lame duck's time comes before. */
const stopWithin = 8_000;

const Settings = z.object({
  ...processSettings,
  PORT: setting.port.default(8080),
  LAME_DUCK_MS: setting.count.default(lameDuckMs),
  DATABASE_URL: z.url(),
  ...databaseSettings,
  KAFKA_BROKERS: setting.list,
  KAFKA_TOPIC_PREFIX: z.string().default(''),
  KAFKA_REPLICATION_FACTOR: setting.count.default(1),
  KAFKA_SESSION_TIMEOUT_MS: setting.count.default(10_000),
  TOKEN_PUBLIC_KEYS: KeysSetting,
  INTERNAL_PRIVATE_KEYS: setting.json(KeySet),
  INTERNAL_PUBLIC_KEYS: setting.json(KeySet),
});

/** Runs one service as a process of its own, with everything it needs from the environment. */
export async function runService(options: {
  readonly name: ServiceName;
  /** The folder of its migrations. */
  readonly migrations: URL;
  readonly create: (parts: ServiceParts, environment: NodeJS.ProcessEnv) => Service;
}): Promise<void> {
  const { name } = options;
  observeProcess();
  const config = readConfig(Settings, process.env);
  const logger = createLogger({ name, level: config.LOG_LEVEL, pretty: process.stdout.isTTY });

  const applied = await migrate({ url: config.DATABASE_URL, directory: fileURLToPath(options.migrations) });
  if (applied.length > 0) logger.info({ applied }, 'Migrated the database');

  const transport = createKafkaTransport({
    brokers: config.KAFKA_BROKERS,
    clientId: name,
    prefix: config.KAFKA_TOPIC_PREFIX,
    replicationFactor: config.KAFKA_REPLICATION_FACTOR,
    sessionTimeout: config.KAFKA_SESSION_TIMEOUT_MS,
    logger,
  });
  const service = options.create(
    {
      databaseUrl: config.DATABASE_URL,
      poolSize: config.DATABASE_POOL_SIZE,
      statementTimeout: config.DATABASE_STATEMENT_TIMEOUT_MS,
      transport,
      verifier: createVerifier(config.TOKEN_PUBLIC_KEYS),
      internal: internalOf(name, config.INTERNAL_PRIVATE_KEYS, config.INTERNAL_PUBLIC_KEYS),
      logger,
      problemBase: config.PROBLEM_BASE,
      checkAnswers: config.NODE_ENV !== 'production',
    },
    process.env,
  );
  service.start();
  await transport.start();
  const server = await listen(service.app, { host: config.HOST, port: config.PORT, problemBase: config.PROBLEM_BASE });
  logger.info({ port: server.port }, 'Listening');

  onStopSignal(async () => {
    service.retire();
    await sleep(config.LAME_DUCK_MS);
    const within = (ms: number) => Date.now() + ms;
    const [closed, consumed, drained, ended] = [within(4_000), within(5_000), within(7_000), within(7_500)];
    await server.close(closed, 1_500);
    await by(consumed, transport.stopConsuming());
    await service.drain(drained);
    await by(ended, Promise.allSettled([transport.close(), service.close()]));
    logger.info('Stopped');
  }, config.LAME_DUCK_MS + stopWithin);
}

/** Runs `stop` once at SIGTERM or SIGINT, then exits: 0 when it finished within `ms`. */
export function onStopSignal(stop: () => Promise<void>, ms = 10_000): void {
  let stopping = false;
  const once = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), ms).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', once);
  process.on('SIGINT', once);
}
