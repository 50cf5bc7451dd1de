import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateInternalKeys, internalOf } from '@attribution/auth';
import { createClient } from '@attribution/contracts';
import { createIngress, readIngressSettings } from '@attribution/gateway';
import { listen } from '@attribution/http';
import { issueToIngress, newSecrets, startPlatform } from '@attribution/local';
import { noteRunning } from '@attribution/ops/running';
import {
  captureLogs,
  createTestClock,
  createTestDatabase,
  eventually,
  openMailbox,
  type TestDatabase,
} from '@attribution/testing';
import { generateSync } from 'otplib';
import { type Platform, rowsOf } from './support-platform.ts';

export { fromSomewhere, newEmail, newOwner, password } from './support-platform.ts';

type Environment = Readonly<Record<string, string>>;

/**
 * The whole platform in this process, with its own databases. `paymentsFile` holds the simulated provider's data; `reach`
 * may put something between a service and its database.
 */
export async function startTestPlatform(
  environment: Environment = {},
  paymentsFile = ':memory:',
  reach: (service: string, url: string) => string | Promise<string> = (_service, url) => url,
) {
  const databases = new Map<string, TestDatabase>();
  const directory = await mkdtemp(join(tmpdir(), 'e2e-'));
  const mailDirectory = join(directory, 'mail');
  await mkdir(mailDirectory);
  const logs = captureLogs('platform');
  const clock = createTestClock();
  const secrets = newSecrets();
  const internalKeys = generateInternalKeys();
  const platform = await startPlatform({
    async database(service) {
      const database = await createTestDatabase(service);
      databases.set(service, database);
      return reach(service, database.url);
    },
    secrets,
    internalKeys,
    mailDirectory,
    mediaDirectory: join(directory, 'media'),
    payments: { file: paymentsFile, url: 'http://127.0.0.1:0' },
    host: '127.0.0.1',
    port: 0,
    logger: logs.logger,
    clock,
    environment: { BCRYPT_COST: '4', NODE_ENV: 'test', ...environment },
  });
  // On a busy machine the first connection to a new database may take longer than a request waits for one.
  await eventually(async () => {
    if (!(await fetch(`${platform.url}/healthz`)).ok) throw new Error('The platform is not ready');
  });
  await noteRunning(directory, {
    databases: Object.fromEntries([...databases].map(([service, { url }]) => [service, url])),
    environment: { SIMULATED_PAYMENTS_FILE: paymentsFile },
  });
  const shared: Platform = {
    url: platform.url,
    gateways: 1,
    crowded: false,
    client: createClient({ baseUrl: platform.url }),
    devices: platform.devices,
    directory,
    mailbox: openMailbox(mailDirectory),
    mailDirectory,
    inside(service, caller) {
      const { sign } = internalOf(caller, internalKeys.private[caller], internalKeys.public);
      return createClient({
        baseUrl: platform.serviceUrls[`${service.toUpperCase()}_URL`] ?? '',
        token: () => sign(service),
      });
    },
    rows: (service, sql) => rowsOf(databases.get(service)?.url ?? '', sql),
    logged: async () => logs.text(),
    async nextCode(secret) {
      clock.advance({ seconds: 30 });
      return generateSync({ secret, epoch: Math.floor(clock.now().getTime() / 1000) });
    },
  };
  return {
    ...shared,
    secrets,
    clock,
    databaseUrl: (service: string) => databases.get(service)?.url ?? '',
    serviceUrls: platform.serviceUrls,
    /** Starts one more ingress, as fleets have several. `more`: settings that differ from those of the first. */
    async startIngress(more: Environment = {}) {
      const { root, cert, key } = issueToIngress(secrets.device_ca, ['127.0.0.1']);
      const settings = readIngressSettings({
        ...{ DEVICE_CA_CERTIFICATES: root, DEVICE_TLS_CERTIFICATE: cert, DEVICE_TLS_KEY: key },
        INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private.ingress),
        ...platform.serviceUrls,
        ...more,
      });
      const ingress = createIngress(settings, logs.logger);
      const server = await listen(ingress.handle, { ...ingress.listening, host: '127.0.0.1', port: 0 });
      return {
        devices: { url: `https://127.0.0.1:${server.port}`, ca: root },
        async stop() {
          await server.close(0);
          await ingress.close();
        },
      };
    },
    async stop() {
      await platform.stop();
      await Promise.all([...databases.values()].map((database) => database.drop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type TestPlatform = Awaited<ReturnType<typeof startTestPlatform>>;
