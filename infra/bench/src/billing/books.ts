import { randomBytes } from 'node:crypto';
import type { BenchDatabase } from '../database.ts';

/** The number of accounts over which the entries are distributed. */
const accounts = 1_000;
/** Rows are inserted as they were left by triggers, which would take hours one after the other. */
const withoutTriggers = (database: BenchDatabase, text: string, values: readonly unknown[]) =>
  database.sql(`SET LOCAL session_replication_role = replica; ${filled(text, values)}`);
/** Several statements take no parameters. These values are our own numbers and hex digits. */
const filled = (text: string, values: readonly unknown[]) =>
  text.replaceAll(/\$(\d)/g, (_, n) => `'${String(values[Number(n) - 1])}'`);

export interface Books {
  fill(database: BenchDatabase, entries: number): Promise<void>;
  /** The sums that a check needs at least, of each account. */
  readonly sums: readonly string[];
}

/** Balances, entries and grants: each account has one grant and spends it token by token. */
export const tokenBooks: Books = {
  async fill(database, entries) {
    const each = entries / accounts;
    const run = randomBytes(4).toString('hex');
    await withoutTriggers(
      database,
      `INSERT INTO accounts (id, name, account_type_key, status, created_at, updated_at)
         SELECT 'acc_' || $1 || n, 'Bench', (SELECT key FROM account_types LIMIT 1), 'active', now(), now() FROM generate_series(1, ${accounts}) AS n;
       INSERT INTO balances (account_id, posted, unspent, last_seq)
         SELECT 'acc_' || $1 || n, ${each} * 2 - (${each} - 1), ${each} * 2 - (${each} - 1), ${each} FROM generate_series(1, ${accounts}) AS n;
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
         SELECT 'led_' || uuidv7(), 'acc_' || $1 || n, s, (CASE s WHEN 1 THEN 'grant' ELSE 'capture' END)::"LedgerKind",
           CASE s WHEN 1 THEN ${each} * 2 ELSE -1 END, ${each} * 2 - (s - 1), 'Scores', 'k' || s, now()
         FROM generate_series(1, ${accounts}) AS n, generate_series(1, ${each}) AS s;
       INSERT INTO token_grants (entry_id, account_id, amount, remaining, priority, created_at)
         SELECT id, account_id, amount, ${each} + 1, 100, now() FROM ledger_entries WHERE kind = 'grant' AND starts_with(account_id, 'acc_' || $1);`,
      [run],
    );
    await database.sql('VACUUM ANALYZE');
  },
  sums: [
    'SELECT account_id, sum(amount), count(*) FROM ledger_entries GROUP BY 1',
    'SELECT account_id, sum(remaining) FROM token_grants GROUP BY 1',
    `SELECT account_id, sum(amount) FROM token_holds WHERE status = 'pending' GROUP BY 1`,
    'SELECT account_id, posted FROM balances',
  ],
};

/** Customers, payments and their entries. None of them is known to the provider, whose lists are its own time. */
export const moneyBooks: Books = {
  async fill(database, entries) {
    const each = entries / accounts;
    const run = randomBytes(4).toString('hex');
    await withoutTriggers(
      database,
      `INSERT INTO customers (account_id, name, currency, created_at, ledger_cents, last_seq)
         SELECT 'acc_' || $1 || n, 'Bench', 'usd', now(), 900 * ${each}, ${each} FROM generate_series(1, ${accounts}) AS n;
       INSERT INTO payments (id, account_id, kind, plan_key, amount_cents, total_cents, currency, token_amount, status, provider_invoice_id, created_at)
         SELECT 'pay_' || uuidv7(), 'acc_' || $1 || n, 'token_pack', 'tokens_1000', 900, 900, 'usd', 1000, 'succeeded', 'in_' || uuidv7(), now()
         FROM generate_series(1, ${each}) AS s, generate_series(1, ${accounts}) AS n;
       INSERT INTO money_entries (id, account_id, seq, kind, amount_cents, balance_after_cents, currency, description, payment_id, created_at)
         SELECT 'led_' || uuidv7(), account_id, s, 'payment', 900, 900 * s, 'usd', '1,000 tokens', id, now()
         FROM (SELECT id, account_id, row_number() OVER (PARTITION BY account_id ORDER BY id) AS s FROM payments WHERE starts_with(account_id, 'acc_' || $1)) AS p;`,
      [run],
    );
    await database.sql('VACUUM ANALYZE');
  },
  sums: [
    'SELECT account_id, sum(amount_cents), count(*) FROM money_entries GROUP BY 1',
    `SELECT account_id, sum(amount_cents + credit_cents) FROM payments WHERE status = 'succeeded' GROUP BY 1`,
    `SELECT account_id, sum(amount_cents) FROM refunds WHERE status = 'succeeded' GROUP BY 1`,
    `SELECT account_id, sum(amount_cents) FROM disputes WHERE status = 'lost' GROUP BY 1`,
    'SELECT account_id, ledger_cents FROM customers',
  ],
};
