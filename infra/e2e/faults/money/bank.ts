import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, generateInternalKeys, internalOf, KeysSetting } from '@attribution/auth';
import { createClient, newUuid, signup } from '@attribution/contracts';
import { newSecrets, startPlatform } from '@attribution/local';
import { createLogger } from '@attribution/service';
import { createTestClock, createTestDatabase, type TestDatabase } from '@attribution/testing';
import pg from 'pg';

const password = 'a long walk at dawn';
const hours = (count: number) => count * 3_600;

/** The whole platform with a payment provider that fails, a clock that is moved, and a look into its books. */
export async function openBank(failures: number) {
  const databases = new Map<string, TestDatabase>();
  const directory = await mkdtemp(join(tmpdir(), 'bank-'));
  const paymentsFile = join(directory, 'payments.sqlite');
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
    mailDirectory: join(directory, 'mail'),
    payments: { file: paymentsFile, url: 'http://127.0.0.1:0' },
    host: '127.0.0.1',
    port: 0,
    logger: createLogger({ name: 'bank', level: 'silent', pretty: false }),
    clock,
    environment: {
      BCRYPT_COST: '4',
      NODE_ENV: 'test',
      SIMULATED_PAYMENTS_FAILURES: String(failures),
      PAYMENT_POLL_MS: '2000',
    },
  });
  const pools = new Map(
    [...databases].map(([name, { url }]) => [name, new pg.Pool({ connectionString: url, max: 2 })]),
  );
  for (const pool of pools.values()) pool.on('error', () => {});
  const signer = createSigner(KeysSetting.parse(secrets.token_keys.private));
  const inside = internalOf('campaign', internalKeys.private.campaign, internalKeys.public);
  const urlOf = (name: 'account' | 'billing') => platform.serviceUrls[`${name.toUpperCase()}_URL`] ?? '';

  return {
    clock,
    paymentsFile,
    databaseUrl: (service: string) => databases.get(service)?.url ?? '',
    async rows<T extends object>(service: string, sql: string, values: readonly unknown[] = []): Promise<T[]> {
      const pool = pools.get(service);
      if (!pool) throw new Error(`No database ${service}`);
      return (await pool.query<T>(sql, [...values])).rows;
    },
    /** A service, as another one asks it. */
    inside: (name: 'account' | 'billing') => createClient({ baseUrl: urlOf(name), token: () => inside.sign(name) }),
    /** A new account's owner, whose token lasts. */
    async openAccount() {
      const address = `198.51.${randomBytes(1)[0]}.${randomBytes(1)[0]}`;
      const client = createClient({ baseUrl: platform.url, headers: { 'x-forwarded-for': address } });
      const body = { email: `${randomBytes(6).toString('hex')}@example.com`, password, full_name: 'Ada Lovelace' };
      const { user_id, account_id } = (await client.call(signup, { body })).body;
      const claims = { sub: user_id, account: account_id, role: 'owner', account_type: 'network', sid: newUuid() };
      return { account: account_id, client: client.with({ token: signer.sign('at+jwt', claims, hours(4)) }) };
    },
    async close() {
      await platform.stop();
      await Promise.all([...pools.values()].map((pool) => pool.end()));
      await Promise.all([...databases.values()].map((database) => database.drop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type Bank = Awaited<ReturnType<typeof openBank>>;
