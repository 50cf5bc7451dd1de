import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSigner, KeysSetting } from '@attribution/auth';
import { createCheckoutSession, createClient, signup } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { newSecrets } from '@attribution/local';
import { freePort } from '@attribution/servers';
import { eventually } from '@attribution/testing';
import pg from 'pg';
import { createDatabases } from '../crash/worlds/databases.ts';
import type { PlatformSettings } from '../crash/worlds/one-process.ts';
import { createMember } from '../member.ts';
import { patientFetch } from '../patient-fetch.ts';

/** The platform in a process that can be killed, with helpers to buy tokens. */
export async function openTill({ devicePort }: { readonly devicePort?: number } = {}) {
  const { databases, drop } = await createDatabases();
  const mailDirectory = await mkdtemp(join(tmpdir(), 'till-'));
  const secrets = newSecrets();
  const paymentsFile = join(mailDirectory, 'payments.sqlite');
  const settings: PlatformSettings = {
    ...{ databases, secrets, mailDirectory, paymentsFile },
    ...(devicePort && { devicePort }),
  };
  const member = createMember({
    program: 'infra/e2e/faults/crash/worlds/platform.process.ts',
    port: await freePort(),
    environment: { PLATFORM: JSON.stringify(settings) },
  });
  const signer = createSigner(KeysSetting.parse(secrets.token_keys.private));
  const anyone = createClient({ baseUrl: member.url, fetch: patientFetch });

  async function count(service: string, sql: string, account?: string): Promise<number> {
    const client = new pg.Client({ connectionString: databases[service] });
    await client.connect();
    try {
      const { rows } = await client.query<{ count: number }>(sql, account === undefined ? [] : [account]);
      return rows[0]?.count ?? 0;
    } finally {
      await client.end();
    }
  }

  async function newOwner() {
    const headers = { 'x-forwarded-for': `198.51.${randomBytes(1)[0]}.${randomBytes(1)[0]}` };
    const body = {
      email: `${randomBytes(6).toString('hex')}@example.com`,
      password: 'a long walk at dawn',
      full_name: 'Ada',
    };
    const { account_id: account, user_id: sub } = (await anyone.call(signup, { body, headers })).body;
    const claims = { sub, account, role: 'owner', account_type: 'network', sid: newUuid() };
    return { account, owner: anyone.with({ token: signer.sign('at+jwt', claims, 900) }) };
  }

  /** Creates an account and a checkout page for 1,000 tokens. */
  async function newCheckout() {
    const { account, owner } = await newOwner();
    const asked = { mode: 'payment', plan_key: 'tokens_1000' } as const;
    return { account, owner, url: (await owner.call(createCheckoutSession, { body: asked })).body.url };
  }

  /** The numbers of succeeded payments, of their ledger entries, and of the token grants for them. */
  const outcome = async (account: string): Promise<readonly [payments: number, entries: number, grants: number]> =>
    Promise.all([
      count('billing', `SELECT count(*)::int FROM payments WHERE account_id = $1 AND status = 'succeeded'`, account),
      count('billing', 'SELECT count(*)::int FROM money_entries WHERE account_id = $1', account),
      count('account', `SELECT count(*)::int FROM ledger_entries WHERE account_id = $1 AND kind = 'purchase'`, account),
    ]);

  return {
    member,
    databases,
    mailDirectory,
    secrets,
    newOwner,
    newCheckout,
    outcome,
    /** Creates an account with 1,000 tokens. */
    async newBuyer() {
      const { account, owner, url } = await newCheckout();
      const body = new URLSearchParams({ action: 'use:succeeds' });
      await (await fetch(url, { method: 'POST', body, redirect: 'manual' })).arrayBuffer();
      await eventually(async () => {
        const [, , grants] = await outcome(account);
        if (grants === 0) throw new Error('The tokens are not there');
      });
      return { account, owner };
    },
    /** Resolves when the provider has no notification left to send, none is left to apply, and no event waits in an outbox. */
    async quiet() {
      await eventually(async () => {
        if (unsentNotifications(paymentsFile) > 0) throw new Error('Notifications are on their way');
        if ((await count('billing', 'SELECT count(due_at)::int AS count FROM provider_events')) > 0)
          throw new Error('Notifications are not applied');
        for (const service of Object.keys(databases))
          if ((await count(service, 'SELECT count(*)::int FROM outbox')) > 0)
            throw new Error(`Events wait in ${service}`);
      });
    },
    async close() {
      await member.end('SIGTERM');
      await drop();
      await rm(mailDirectory, { recursive: true, force: true });
    },
  };
}

/** How many notifications the simulated provider has not delivered. `file`: its data. */
function unsentNotifications(file: string): number {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(db.prepare('SELECT count(next_at) AS count FROM events').get()?.count);
  } finally {
    db.close();
  }
}

export type Till = Awaited<ReturnType<typeof openTill>>;
