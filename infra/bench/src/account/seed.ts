import { createHash } from 'node:crypto';
import { newId } from '@attribution/contracts';
import type { BenchDatabase } from '../database.ts';

export interface SeededAccount {
  readonly id: string;
  readonly accessKeyId: string;
}

/** Every key's; its last six characters are the checksum of those before. */
export const secret = 'benchbenchbenchbenchbenchbenchbenc0gFqOO';

/** Accounts with many tokens and one key each. */
export async function seedAccounts(database: BenchDatabase, count: number): Promise<SeededAccount[]> {
  const accounts = Array.from({ length: count }, (_, at) => ({
    id: newId('account'),
    accessKeyId: `atp_stage_${String(at).padStart(22, '0')}`,
    entry: newId('ledger_entry'),
    key: newId('api_key'),
  }));
  const text = JSON.stringify(accounts);
  const from = 'FROM jsonb_to_recordset($1) AS a(id text, "accessKeyId" text, entry text, key text)';
  await database.sql(
    `INSERT INTO accounts (id, name, account_type_key, created_at, updated_at) SELECT id, 'Bench', 'network', now(), now() ${from}`,
    [text],
  );
  await database.sql(`INSERT INTO balances (account_id) SELECT id ${from}`, [text]);
  await database.sql(
    `WITH entries AS (
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
       SELECT entry, id, 1, 'grant', 1e15, 1e15, 'Bench', 'bench', now() ${from} RETURNING id, account_id
     )
     INSERT INTO token_grants (entry_id, account_id, amount, remaining, priority, created_at)
     SELECT id, account_id, 1e15, 1e15, 10, now() FROM entries`,
    [text],
  );
  await database.sql(
    `INSERT INTO api_keys (id, account_id, name, access_key_id, secret_hash, role, readonly, created_at)
     SELECT key, id, 'Bench', "accessKeyId", $2, 'viewer', true, now() ${from}`,
    [text, createHash('sha256').update(secret).digest('hex')],
  );
  return accounts;
}

/** So many keys over all accounts, in turn; answers their access key ids. */
export async function fillKeys(database: BenchDatabase, count: number): Promise<readonly string[]> {
  await database.sql(
    `INSERT INTO api_keys (id, account_id, name, access_key_id, secret_hash, role, readonly, created_at)
     SELECT 'key_' || uuidv7(), a.ids[1 + n % cardinality(a.ids)], 'Bench', 'atp_stage_f' || lpad(n::text, 21, '0'), $2, 'viewer',
       true, now()
     FROM generate_series(1, $1::int) AS n, (SELECT array_agg(id) AS ids FROM accounts) AS a`,
    [count, createHash('sha256').update(secret).digest('hex')],
  );
  return Array.from({ length: count }, (_, n) => `atp_stage_f${String(n + 1).padStart(21, '0')}`);
}

/** Members of an account. */
export async function fillMembers(database: BenchDatabase, account: string, count: number): Promise<void> {
  await database.sql(
    `WITH people AS (
       INSERT INTO users (id, email, email_key, full_name, password_hash, email_verified_at, created_at, updated_at)
       SELECT 'usr_' || uuidv7(), n || '@bench.example', n || '@bench.example', 'Bench', 'none', now(), now(), now()
       FROM generate_series(1, $2::int) AS n RETURNING id
     )
     INSERT INTO memberships (user_id, account_id, role, joined_at) SELECT id, $1, 'member', now() FROM people`,
    [account, count],
  );
  await database.sql('VACUUM ANALYZE');
}
