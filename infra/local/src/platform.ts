import { hkdfSync } from 'node:crypto';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createVerifier, generateInternalKeys, internalOf, KeysSetting } from '@attribution/auth';
import type { ServiceName } from '@attribution/contracts';
import { migrate } from '@attribution/database';
import {
  createGateway,
  createIngress,
  type Gateway,
  type Ingress,
  readGatewaySettings,
  readIngressSettings,
} from '@attribution/gateway';
import { createByteBudget, listen, problemOf, type RunningServer, writeProblem } from '@attribution/http';
import { createInProcessTransport } from '@attribution/messaging';
import { loadServices } from '@attribution/registry';
import { addressSetting, budgetSettings, type Clock, describeSettings, readConfig } from '@attribution/runtime';
import {
  createFileBudget,
  databaseSettings,
  type Environment,
  type Service,
  type ServiceDefinition,
} from '@attribution/service';
import type { Logger } from 'pino';
import { z } from 'zod';
import { issueToIngress } from './ingress-certificate.ts';
import type { Secrets } from './secrets.ts';

export interface PlatformOptions {
  /** Creates a service's database if it does not exist, and returns its URL. */
  readonly database: (service: string) => Promise<string>;
  readonly secrets: Secrets;
  readonly mailDirectory: string;
  /** The folder of media files. */
  readonly mediaDirectory: string;
  /** The simulated payment provider: its file, and the address of its pages. Port 0 takes a free port. */
  readonly payments: { readonly file: string; readonly url: string };
  readonly host: string;
  /** The gateway's port; 0 takes a free one. */
  readonly port: number;
  /** The ingress's port. Default: a free one. */
  readonly devicePort?: number;
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
  /** The ingress's base URL, and the root that devices check its certificate against, as PEM. */
  readonly devices: { readonly url: string; readonly ca: string };
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
    ...(options.environment?.MEDIA_S3_BUCKET === undefined && { MEDIA_DIR: options.mediaDirectory }),
    SIMULATED_PAYMENTS_FILE: options.payments.file,
    SIMULATED_PAYMENTS_URL: options.payments.url,
    TOKEN_PRIVATE_KEYS: secrets.token_keys.private,
    TOKEN_PUBLIC_KEYS: secrets.token_keys.public,
    PASSWORD_PEPPER: secrets.password_pepper,
    DEVICE_CA: secrets.device_ca,
    SECRET_KEYS: secrets.secret_key,
    ...options.environment,
  };
  const definitions = await loadServices();
  const derived = secretsMissing(definitions, known).map((name) => [name, secretFor(name, secrets)] as const);
  const environment = { ...Object.fromEntries(derived), ...known };

  const {
    DATABASE_POOL_SIZE,
    DATABASE_STATEMENT_TIMEOUT_MS,
    BODY_BUDGET_BYTES,
    SPOOL_BUDGET_BYTES,
    TOKEN_PUBLIC_KEYS,
  } = readConfig(z.object({ ...databaseSettings, ...budgetSettings, TOKEN_PUBLIC_KEYS: KeysSetting }), environment);
  const bodies = createByteBudget({ limit: BODY_BUDGET_BYTES });
  const files = createFileBudget(SPOOL_BUDGET_BYTES);

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
      bodies,
      files,
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
  let ingress: Ingress | undefined;
  let deviceEdge: RunningServer | undefined;

  /** Listens before the service is created, because each service needs the addresses of the others, and the gateway's, when it is created. */
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
    await Promise.all([edge, deviceEdge].map((server) => server?.close(deadline - 4_000, idleTimeoutMs)));
    await Promise.all([gateway?.close(), ingress?.close()]);
    await Promise.all(servers.map((server) => server.close(deadline - 3_000)));
    // One after the other, because draining one service may publish events that the next one handles.
    for (const service of running) await service.drain(deadline);
    await transport.stopConsuming();
    await Promise.all(running.map((service) => service.close()));
  }

  try {
    const urls: Record<string, string> = {};
    for (const { name } of definitions) urls[addressSetting(name)] = await openServer(name);
    const settings = readGatewaySettings({
      ...environment,
      ...urls,
      INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private.gateway),
    });
    gateway = createGateway(settings, logger.child({ service: 'gateway' }), { bodies });
    edge = await listen(gateway.handle, {
      host: options.host,
      port: options.port,
      problemBase: settings.PROBLEM_BASE,
      clientTimeout: settings.CLIENT_TIMEOUT_MS,
      connectionCap: gateway.connectionCap,
    });
    const url = `http://${options.host}:${edge.port}`;
    for (const definition of definitions) {
      const service = await open(definition, { PUBLIC_URL: url, ...environment, ...urls });
      apps.set(definition.name, service.app);
      running.push(service);
    }
    await transport.start();
    for (const service of running) service.start();
    const certificate = issueToIngress(secrets.device_ca, ['localhost', loopback, hostname(), options.host]);
    const deviceSettings = readIngressSettings({
      DEVICE_CA_CERTIFICATES: certificate.root,
      DEVICE_TLS_CERTIFICATE: certificate.cert,
      DEVICE_TLS_KEY: certificate.key,
      ...environment,
      ...urls,
      INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private.ingress),
    });
    ingress = createIngress(deviceSettings, logger.child({ service: 'ingress' }), { bodies });
    deviceEdge = await listen(ingress.handle, {
      ...ingress.listening,
      host: options.host,
      port: options.devicePort ?? 0,
    });
    return {
      url,
      devices: { url: `https://${options.host}:${deviceEdge.port}`, ca: certificate.root },
      serviceUrls: urls,
      stop,
    };
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
