import { hkdfSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createVerifier, generateInternalKeys, internalOf, KeysSetting } from '@attribution/auth';
import type { ServiceName } from '@attribution/contracts';
import { migrate } from '@attribution/database';
import { createGateway, type Gateway, readGatewaySettings } from '@attribution/gateway';
import { listen, problemOf, type RunningServer, writeProblem } from '@attribution/http';
import { createInProcessTransport } from '@attribution/messaging';
import { loadServices } from '@attribution/registry';
import { addressSetting, type Clock, describeSettings, readConfig } from '@attribution/runtime';
import { databaseSettings, type Environment, type Service, type ServiceDefinition } from '@attribution/service';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Secrets } from './secrets.ts';

export interface PlatformOptions {
  /** Creates a service's database if it does not exist, and returns its URL. */
  readonly database: (service: string) => Promise<string>;
  readonly secrets: Secrets;
  readonly mailDirectory: string;
  /** The simulated payment provider: its file, and the address of its pages. Port 0 takes a free port. */
  readonly payments: { readonly file: string; readonly url: string };
  readonly host: string;
  /** The gateway's port; 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  /** Further variables, as in docs/configuration.md. */
  readonly environment?: Environment;
  readonly clock?: Clock;
  /** The keys that services sign calls to each other with. Generated if missing. */
  readonly internalKeys?: ReturnType<typeof generateInternalKeys>;
}

export interface Platform {
  /** The gateway's base URL. */
  readonly url: string;
  /** The services' own base URLs, which bypass the gateway, by `<NAME>_URL`. */
  readonly serviceUrls: Readonly<Record<string, string>>;
  /** Stops listening, finishes requests in progress, and publishes the outboxes. */
  stop(): Promise<void>;
}

const loopback = '127.0.0.1';
const problemBase = 'https://problems.attribution.example';
const stopTimeoutMs = 8_500;
/** When stopping, a kept connection is closed after this time without a request. */
const idleTimeoutMs = 1_000;

/** Starts the whole platform in this process: all services, the in-process transport, and the gateway. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { logger, secrets } = options;
  const transport = createInProcessTransport();
  // The services share this process, so these keys need not outlive it.
  const internalKeys = options.internalKeys ?? generateInternalKeys();
  const known: Environment = {
    PROBLEM_BASE: problemBase,
    MAIL_DIR: options.mailDirectory,
    SIMULATED_PAYMENTS_FILE: options.payments.file,
    SIMULATED_PAYMENTS_URL: options.payments.url,
    TOKEN_PRIVATE_KEYS: secrets.token_keys.private,
    TOKEN_PUBLIC_KEYS: secrets.token_keys.public,
    PASSWORD_PEPPER: secrets.password_pepper,
    SECRET_KEYS: secrets.secret_key,
    ...options.environment,
  };
  const definitions = await loadServices();
  const derived = secretsMissing(definitions, known).map((name) => [name, secretFor(name, secrets)] as const);
  const environment = { ...Object.fromEntries(derived), ...known };

  const { DATABASE_POOL_SIZE, DATABASE_STATEMENT_TIMEOUT_MS, TOKEN_PUBLIC_KEYS } = readConfig(
    z.object({ ...databaseSettings, TOKEN_PUBLIC_KEYS: KeysSetting }),
    environment,
  );

  async function open(
    { name, migrations, create }: ServiceDefinition,
    serviceEnvironment: Environment,
  ): Promise<Service> {
    const url = await options.database(name);
    const applied = await migrate({ url, directory: fileURLToPath(migrations) });
    if (applied.length > 0) logger.debug({ service: name, applied }, 'Migrated the database');
    const dependencies = {
      databaseUrl: url,
      poolSize: DATABASE_POOL_SIZE,
      statementTimeout: DATABASE_STATEMENT_TIMEOUT_MS,
      transport,
      verifier: createVerifier(TOKEN_PUBLIC_KEYS),
      internal: internalOf(name, internalKeys.private[name], internalKeys.public),
      logger,
      problemBase: environment.PROBLEM_BASE ?? problemBase,
      checkAnswers: environment.NODE_ENV !== 'production',
      ...(options.clock && { clock: options.clock }),
    };
    return create(dependencies, serviceEnvironment);
  }

  const running: Service[] = [];
  const servers: RunningServer[] = [];
  const apps = new Map<string, Service['app']>();
  let gateway: Gateway | undefined;
  let edge: RunningServer | undefined;

  /** Listens before the service is created, because each service needs the addresses of the others when it is created. */
  async function openServer(name: ServiceName): Promise<string> {
    const server = await listen(
      (req, res) => {
        const app = apps.get(name);
        if (app) app(req, res);
        else writeProblem(res, problemOf(undefined), problemBase);
      },
      { host: loopback, port: 0, problemBase },
    );
    servers.push(server);
    return `http://${loopback}:${server.port}`;
  }

  async function stop(): Promise<void> {
    const deadline = Date.now() + stopTimeoutMs;
    await edge?.close(deadline - 4_000, idleTimeoutMs);
    await gateway?.close();
    await Promise.all(servers.map((server) => server.close(deadline - 3_000)));
    // One after the other, because draining one service may publish events that the next one handles.
    for (const service of running) await service.drain(deadline);
    await transport.stopConsuming();
    await Promise.all(running.map((service) => service.close()));
  }

  try {
    const urls: Record<string, string> = {};
    for (const { name } of definitions) urls[addressSetting(name)] = await openServer(name);
    for (const definition of definitions) {
      const service = await open(definition, { ...environment, ...urls });
      apps.set(definition.name, service.app);
      running.push(service);
    }
    await transport.start();
    for (const service of running) service.start();
    const settings = readGatewaySettings({ ...environment, ...urls });
    gateway = createGateway(settings, logger.child({ service: 'gateway' }));
    edge = await listen(gateway.handle, {
      host: options.host,
      port: options.port,
      problemBase: settings.PROBLEM_BASE,
      clientTimeout: settings.CLIENT_TIMEOUT_MS,
    });
    return { url: `http://${options.host}:${edge.port}`, serviceUrls: urls, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The secret of a setting: the same at each start. For development only, where no other machine knows it. */
const secretFor = (setting: string, { secret_key }: Secrets): string =>
  Buffer.from(hkdfSync('sha256', secret_key, '', setting, 32)).toString('base64url');

/** The secrets that services require and the environment lacks. */
const secretsMissing = (definitions: readonly ServiceDefinition[], environment: Environment): string[] =>
  definitions
    .flatMap(({ settings }) => describeSettings(settings))
    .filter(({ name, secret, required }) => secret && required && environment[name] === undefined)
    .map(({ name }) => name);
