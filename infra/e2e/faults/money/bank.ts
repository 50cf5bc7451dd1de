import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, KeysSetting } from '@attribution/auth';
import { signup } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { untilServed } from '@attribution/testing';
import pg from 'pg';
import { fromSomewhere, newEmail, password, startTestPlatform } from '../../test/support.ts';

/** Long enough for a token to outlive a run. */
const tokenLifetimeSeconds = 4 * 3_600;

/** The whole platform with an unreliable payment provider, a clock that can be moved, and access to its databases. */
export async function openBank(failures: number) {
  const directory = await mkdtemp(join(tmpdir(), 'bank-'));
  const paymentsFile = join(directory, 'payments.sqlite');
  const settings = {
    SIMULATED_PAYMENTS_FAILURES: String(failures),
    PAYMENT_POLL_MS: '2000',
    LOG_LEVEL: 'silent',
    REFUND_FRAUD_WARNINGS: 'true',
  };
  const platform = await startTestPlatform(settings, paymentsFile);
  const { clock, databaseUrl } = platform;
  const signer = createSigner(KeysSetting.parse(platform.secrets.token_keys.private));
  const pools = new Map<string, pg.Pool>();
  const poolOf = (service: string) => {
    const known = pools.get(service);
    if (known) return known;
    const pool = new pg.Pool({ connectionString: databaseUrl(service), max: 2 });
    pool.on('error', () => {}); // The database is dropped while connections are idle.
    pools.set(service, pool);
    return pool;
  };

  return {
    clock,
    paymentsFile,
    databaseUrl,
    rows: async <T extends object>(service: string, sql: string, values: readonly unknown[] = []): Promise<T[]> =>
      (await poolOf(service).query<T>(sql, [...values])).rows,
    /** A client of a service's Internal endpoints, in the name of another service. */
    inside: platform.inside,
    /** Creates an account, with a client of its owner whose token outlives the run. */
    async openAccount() {
      const client = platform.client.with({ headers: fromSomewhere() });
      const body = { email: newEmail(), password, full_name: 'Ada Lovelace' };
      const { user_id, account_id } = (await untilServed(() => client.call(signup, { body }))).body;
      const claims = { sub: user_id, account: account_id, role: 'owner', account_type: 'network', sid: newUuid() };
      return {
        account: account_id,
        client: client.with({ token: signer.sign('at+jwt', claims, tokenLifetimeSeconds) }),
      };
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.end()));
      await platform.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type Bank = Awaited<ReturnType<typeof openBank>>;
