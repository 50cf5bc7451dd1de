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
  /** Of the payment, refund or dispute that it is for. */
  readonly key: string;
  readonly amount: number;
}
interface Owed extends Entry {
  /** A refund that was made at the provider takes at most this, because some tokens may be spent. */
  readonly at_most: boolean;
}
interface Lost {
  readonly id: string;
  /** Tokens of the payment; those that the disputed money bought. */
  readonly bought: number;
  readonly disputed: number;
  readonly refunds: readonly string[];
}

/** Describes the differences between Account's token entries and Billing's payments, refunds and disputes. */
export async function compareTokens(bank: Bank): Promise<string[]> {
  const entries = await bank.rows<Entry>(
    'account',
    `SELECT split_part(idempotency_key, '+', 1) AS key, sum(amount)::int AS amount FROM ledger_entries
     WHERE idempotency_key LIKE 'payment:%' OR idempotency_key LIKE 'refund:%' GROUP BY 1`,
  );
  const owed = await bank.rows<Owed>(
    'billing',
    `SELECT 'payment:' || id AS key, token_amount AS amount, false AS at_most FROM payments
     WHERE status = 'succeeded' AND token_amount > 0
     UNION ALL SELECT 'refund:' || id, -token_amount, hold_id IS NULL FROM refunds
     WHERE status = 'succeeded' AND token_amount > 0`,
  );
  const found: string[] = [];
  const entered = new Map(entries.map(({ key, amount }) => [key, amount]));
  for (const { key, amount, at_most } of owed) {
    const posted = entered.get(key) ?? 0;
    entered.delete(key);
    if (at_most ? posted < amount || posted > 0 : posted !== amount)
      found.push(`${key}: ${amount} owed, ${posted} entered`);
  }
  for (const key of entered.keys()) found.push(`${key}: entered, but not owed`);
  return [...found, ...(await compareLost(bank))];
}

/** The disputed tokens of a payment that were not refunded were taken back, or are owed. */
async function compareLost(bank: Bank): Promise<string[]> {
  const lost = await bank.rows<Lost>(
    'billing',
    `SELECT d.id, p.token_amount AS bought, d.token_amount AS disputed,
       array(SELECT id FROM refunds WHERE payment_id = p.id AND status = 'succeeded') AS refunds
     FROM disputes AS d JOIN payments AS p ON p.id = d.payment_id WHERE d.status = 'lost' AND p.token_amount > 0`,
  );
  const entered = await bank.rows<Entry>(
    'account',
    `SELECT split_part(translate(idempotency_key, '+', ':'), ':', 2) AS key, sum(amount)::int AS amount FROM ledger_entries
     WHERE idempotency_key LIKE 'dispute:%' OR idempotency_key LIKE 'refund:%' GROUP BY 1`,
  );
  const debts = await bank.rows<Entry>('account', 'SELECT dispute_id AS key, amount::int FROM token_debts WHERE lost');
  const taken = new Map(entered.map(({ key, amount }) => [key, 0 - amount]));
  const owed = new Map(debts.map(({ key, amount }) => [key, amount]));
  return lost.flatMap(({ id, bought, disputed, refunds }) => {
    const refunded = refunds.reduce((sum, refund) => sum + (taken.get(refund) ?? 0), 0);
    const due = Math.min(disputed, bought - refunded);
    const [back, debt] = [taken.get(id) ?? 0, owed.get(id)];
    if (debt !== undefined && back + debt === due) return [];
    return [`dispute:${id}: ${disputed} of ${bought}, ${refunded} refunded: ${back} taken, ${debt ?? 'nothing'} owed`];
  });
}
