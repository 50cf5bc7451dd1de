import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner, generateKeySets } from '@attribution/auth';
import { newId, newUuid } from '@attribution/ids';
import { sendingFrom, webhookSecret, writeNotifications } from '../billing/notifications.ts';
import { type Case, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { compareServers, withDatabase } from '../endpoints/compare-servers.ts';
import { serviceSettings } from '../endpoints/settings.ts';
import { startServer } from '../server.ts';
import { load } from '../wrk.ts';

const bars = { webhooks: 0.5, ledger: 1 / 1.3 };
const keys = generateKeySets('bench');
/** More than a run sends, so that none is sent twice. */
const notificationsASecond = 8_000;

const start = (program: '../endpoints/service.server.ts' | '../billing/bare.server.ts', database: BenchDatabase) =>
  startServer(new URL(program, import.meta.url), {
    ...serviceSettings(keys, 'billing'),
    SERVICE: 'billing',
    DATABASE_URL: database.url,
    RELAY: 'off',
    STRIPE_WEBHOOK_SECRETS: webhookSecret,
  });

export const billingWebhooks: Case = {
  name: 'billing: webhook intake',
  run: (tools) =>
    withDatabase(tools, 'billing', async (database) => {
      const directory = await mkdtemp(join(tmpdir(), 'bench-webhooks-'));
      try {
        const [ours, bare] = await Promise.all([
          start('../endpoints/service.server.ts', database),
          start('../billing/bare.server.ts', database),
        ]);
        const compared = await compareServers(tools, ours, bare, async (url) => {
          const file = join(directory, newUuid());
          await writeNotifications(file, Math.ceil(notificationsASecond * tools.seconds));
          await database.sql('TRUNCATE provider_events, bare_events');
          const { rate } = await load({ url, seconds: tools.seconds, script: sendingFrom(file) });
          await rm(file);
          return rate;
        });
        return [rateRow('Webhook intake beside Express and an insert of the same body', compared, bars.webhooks)];
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    }),
};

/** Creates an account with that many entries in its ledger. */
async function fillLedger(database: BenchDatabase, entries: number): Promise<string> {
  const account = newId('account');
  await database.sql(
    `INSERT INTO customers (account_id, name, currency, created_at) VALUES ($1, 'Bench', 'usd', now())`,
    [account],
  );
  // The sum and the payments are not read here, so a million of each need not be created.
  await database.sql('ALTER TABLE money_entries DISABLE TRIGGER USER');
  await database.sql('ALTER TABLE money_entries DROP CONSTRAINT money_entries_payment_id_fkey');
  const chunks = 20;
  for (let chunk = 0; chunk < chunks; chunk++)
    await database.sql(
      `INSERT INTO money_entries (id, account_id, seq, kind, amount_cents, balance_after_cents, currency, description, payment_id, created_at)
       SELECT 'led_' || uuidv7(), $1, n, 'payment', 900, 900::bigint * n, 'usd', '1,000 tokens', 'pay_' || uuidv7(), now()
       FROM generate_series($2::int, $3::int) AS n`,
      [account, (entries / chunks) * chunk + 1, (entries / chunks) * (chunk + 1)],
    );
  await database.sql('ALTER TABLE money_entries ENABLE TRIGGER USER');
  await database.sql('VACUUM ANALYZE money_entries');
  return account;
}

/** Requests per second of a page from the middle, as the owner. */
async function page({ seconds }: Tools, url: string, account: string): Promise<number> {
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network', sid: newUuid() };
  const headers = { authorization: `Bearer ${createSigner(keys.private).sign('at+jwt', claims, 600)}` };
  const first = await fetch(`${url}/v2/billing/ledger?limit=200`, { headers });
  const { next_cursor: cursor } = (await first.json()) as { next_cursor: string };
  return (await load({ url: `${url}/v2/billing/ledger?limit=50&cursor=${cursor}`, seconds, headers })).rate;
}

export const billingLedger: Case = {
  name: 'billing: ledger pages',
  run: (tools) =>
    withDatabase(tools, 'billing', (large) =>
      withDatabase(tools, 'billing', async (small) => {
        tools.say('  filling: 1,000,000 ledger entries beside 1,000');
        const [many, few] = [await fillLedger(large, tools.smoke ? 1_000 : 1_000_000), await fillLedger(small, 1_000)];
        const [ours, other] = await Promise.all([
          start('../endpoints/service.server.ts', large),
          start('../endpoints/service.server.ts', small),
        ]);
        const compared = await compareServers(tools, ours, other, (url) =>
          page(tools, url, url === ours.url ? many : few),
        );
        return [rateRow('A page of 50 of 1,000,000 ledger entries beside of 1,000', compared, bars.ledger)];
      }),
    ),
};
