import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateInternalKeys, internalOf } from '@attribution/auth';
import { type Client, createClient, type ServiceName, type Session, signup, verifyEmail } from '@attribution/contracts';
import { newSecrets, startPlatform } from '@attribution/local';
import {
  captureLogs,
  createTestClock,
  createTestDatabase,
  eventually,
  openMailbox,
  type TestDatabase,
} from '@attribution/testing';
import pg from 'pg';
import type { z } from 'zod';

type Environment = Readonly<Record<string, string>>;

/** The whole platform in this process, on databases of its own, reached through its gateway. `paymentsFile`: of the simulated provider. */
export async function startTestPlatform(environment: Environment = {}, paymentsFile = ':memory:') {
  const databases = new Map<string, TestDatabase>();
  const mailDirectory = await mkdtemp(join(tmpdir(), 'e2e-mail-'));
  const logs = captureLogs('platform');
  const clock = createTestClock();
  const secrets = newSecrets();
  const internalKeys = generateInternalKeys();
  const platform = await startPlatform({
    async database(service) {
      const database = await createTestDatabase(service);
      databases.set(service, database);
      return database.url;
    },
    secrets,
    internalKeys,
    mailDirectory,
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
  }, 30_000);
  return {
    url: platform.url,
    client: createClient({ baseUrl: platform.url }),
    mailbox: openMailbox(mailDirectory),
    mailDirectory,
    secrets,
    logs,
    clock,
    /** A service past the gateway, as another one asks it. */
    inside(asked: 'account' | 'billing', caller: ServiceName): Client {
      const { sign } = internalOf(caller, internalKeys.private[caller], internalKeys.public);
      return createClient({
        baseUrl: platform.serviceUrls[`${asked.toUpperCase()}_URL`] ?? '',
        token: () => sign(asked),
      });
    },
    databaseUrl: (service: string) => databases.get(service)?.url ?? '',
    /** Rows of a service's database, looked at from outside. */
    async rows<T extends object>(service: string, sql: string): Promise<T[]> {
      const client = new pg.Client({ connectionString: databases.get(service)?.url });
      await client.connect();
      try {
        return (await client.query<T>(sql)).rows;
      } finally {
        await client.end();
      }
    },
    async stop() {
      await platform.stop();
      await Promise.all([...databases.values()].map((database) => database.drop()));
      await rm(mailDirectory, { recursive: true, force: true });
    },
  };
}

export type TestPlatform = Awaited<ReturnType<typeof startTestPlatform>>;

export const newEmail = () => `person-${randomBytes(5).toString('hex')}@example.com`;
export const password = 'a long walk at dawn';

/** A different client address for each sign-up: the limits count by address. */
export const fromSomewhere = () => ({ 'x-forwarded-for': `198.51.${randomBytes(1)[0]}.${randomBytes(1)[0]}` });

/** Signs somebody up and verifies the address. */
export async function newOwner(platform: TestPlatform, email = newEmail()) {
  const anyone = platform.client.with({ headers: fromSomewhere() });
  const signedUp = (await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } })).body;
  const code = await platform.mailbox.codeFor(email);
  const session = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  const client: Client = platform.client.with({ token: session.access_token, headers: fromSomewhere() });
  return { email, ...signedUp, session, client };
}
