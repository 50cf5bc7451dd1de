import { createHash } from 'node:crypto';
import { newId } from '@attribution/ids';
import type { Statements } from '../database.ts';

export interface SeededAccount {
  readonly id: string;
  readonly accessKeyId: string;
}

/** The secret of every key. Its last six characters are a checksum of the others. */
export const secret = 'benchbenchbenchbenchbenchbenchbenc0gFqOO';

/** Creates accounts with many tokens and one API key each. */
export async function seedAccounts(database: Statements, count: number): Promise<SeededAccount[]> {
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

/** Distributes `count` keys over all accounts. Returns their access key ids. */
export async function fillKeys(database: Statements, count: number): Promise<readonly string[]> {
  await database.sql(
    `INSERT INTO api_keys (id, account_id, name, access_key_id, secret_hash, role, readonly, created_at)
     SELECT 'key_' || uuidv7(), a.ids[1 + n % cardinality(a.ids)], 'Bench', 'atp_stage_f' || lpad(n::text, 21, '0'), $2, 'viewer',
       true, now()
     FROM generate_series(1, $1::int) AS n, (SELECT array_agg(id) AS ids FROM accounts) AS a`,
    [count, createHash('sha256').update(secret).digest('hex')],
  );
  return Array.from({ length: count }, (_, n) => `atp_stage_f${String(n + 1).padStart(21, '0')}`);
}

/** Creates the owner of each account, and ledger entries for a page. Returns the owners. */
export async function fillOwners(database: Statements, accounts: readonly string[]): Promise<string[]> {
  const owners = accounts.map((account) => ({ account, id: newId('user'), email: `${account}@bench.example` }));
  const text = JSON.stringify(owners);
  const from = 'FROM jsonb_to_recordset($1) AS o(account text, id text, email text)';
  await database.sql(
    `INSERT INTO users (id, email, email_key, full_name, password_hash, email_verified_at, created_at, updated_at)
     SELECT id, email, email, 'Bench', 'none', now(), now(), now() ${from}`,
    [text],
  );
  await database.sql(
    `INSERT INTO memberships (user_id, account_id, role, joined_at) SELECT id, account, 'owner', now() ${from}`,
    [text],
  );
  const entries = accounts.flatMap((account) =>
    Array.from({ length: 30 }, (_, index) => ({ id: newId('ledger_entry'), account, seq: index + 2 })),
  );
  await database.sql(
    `INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
     SELECT id, account, seq, 'adjustment', 0, 1e15, 'Bench', seq, now()
     FROM jsonb_to_recordset($1) AS e(id text, account text, seq int) ORDER BY account, seq`,
    [JSON.stringify(entries)],
  );
  await database.sql('VACUUM ANALYZE');
  return owners.map(({ id }) => id);
}

/** Creates members of an account. */
export async function fillMembers(database: Statements, account: string, count: number): Promise<void> {
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
