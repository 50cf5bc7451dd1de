import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bank } from './bank.ts';

const root = join(import.meta.dirname, '../../../..');

/** Advances the clock until all notifications, refunds and events have been handled. Throws if that never happens. */
export async function comeToRest(bank: Bank): Promise<void> {
  for (let turn = 0; turn < 60; turn++) {
    bank.clock.advance({ minutes: 11 });
    // Time for the poller and the jobs to run.
    await sleep(2_500);
    const remaining = await waiting(bank);
    if (remaining.length === 0) return;
  }
  throw new Error(`Not at rest: ${(await waiting(bank)).join(', ')}`);
}

async function waiting(bank: Bank): Promise<string[]> {
  const counts = {
    notifications: await bank.rows('billing', 'SELECT id FROM provider_events WHERE due_at IS NOT NULL'),
    refunds: await bank.rows('billing', `SELECT id FROM refunds WHERE status = 'pending'`),
    'billing events': await bank.rows('billing', 'SELECT 1 FROM outbox'),
    'account events': await bank.rows('account', 'SELECT 1 FROM outbox'),
  };
  return Object.entries(counts)
    .filter(([, rows]) => rows.length > 0)
    .map(([what, rows]) => `${rows.length} ${what}`);
}

/** Runs the nightly check of the ledgers. */
export async function checkByCommand(bank: Bank): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const environment = {
      PATH: process.env.PATH,
      BILLING_DATABASE_URL: bank.databaseUrl('billing'),
      SIMULATED_PAYMENTS_FILE: bank.paymentsFile,
    };
    const program = join(root, 'infra/ops/src/main.ts');
    execFile(process.execPath, [program, 'ledgers', 'billing'], { env: environment }, (error, stdout) => {
      resolve({ code: error ? 1 : 0, output: stdout.trim() });
    });
  });
}

interface Entry {
  readonly idempotency_key: string;
  readonly amount: string;
}

/** Describes the differences between Account's token entries and Billing's payments and refunds. */
export async function compareTokens(bank: Bank): Promise<string[]> {
  const entries = await bank.rows<Entry>(
    'account',
    `SELECT idempotency_key, amount::text FROM ledger_entries
     WHERE idempotency_key LIKE 'payment:%' OR idempotency_key LIKE 'refund:%'`,
  );
  const owed = await bank.rows<Entry>(
    'billing',
    `SELECT 'payment:' || id AS idempotency_key, token_amount::text AS amount FROM payments
     WHERE status = 'succeeded' AND token_amount > 0
     UNION ALL SELECT 'refund:' || id, (-token_amount)::text FROM refunds WHERE status = 'succeeded' AND token_amount > 0`,
  );
  const found: string[] = [];
  const entered = Map.groupBy(entries, ({ idempotency_key }) => idempotency_key);
  for (const { idempotency_key: key, amount } of owed) {
    const amounts = entered.get(key)?.map((entry) => entry.amount) ?? [];
    entered.delete(key);
    if (amounts.length !== 1 || amounts[0] !== amount)
      found.push(`${key}: ${amount} owed, ${amounts.join(' and ') || 'nothing'} entered`);
  }
  for (const key of entered.keys()) found.push(`${key}: entered, but not owed`);
  return found;
}
