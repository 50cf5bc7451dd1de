import {
  type ApiKeyWithSecret,
  type Client,
  createApiKey,
  exchangeApiKey,
  getApiKey,
  type NewApiKey,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import type { z } from 'zod';
import { count, rows } from './support.ts';

export type Key = z.output<typeof ApiKeyWithSecret>;
type Pair = Pick<Key, 'access_key_id' | 'access_key_secret'>;

/** A new key, by default as the contract has it. */
export async function makeKey(client: Client, fields: Partial<z.input<typeof NewApiKey>> = {}): Promise<Key> {
  return (await client.call(createApiKey, { body: { name: 'Export', ...fields } })).body;
}

export const readKey = async (client: Client, id: string) => (await client.call(getApiKey, { params: { id } })).body;

export const exchange = (service: TestService, key: Pair) =>
  service.client.call(exchangeApiKey, {
    headers: { 'x-access-key-id': key.access_key_id, 'x-access-key-secret': key.access_key_secret },
  });

/** Exchanges a key, which must succeed, and returns its access token. */
export const tokenOf = async (service: TestService, key: Pair) => (await exchange(service, key)).body.access_token;

/** The result of an exchange: 200, or the refusal. */
export async function outcomeOf(service: TestService, key: Pair): Promise<200 | string | undefined> {
  const { status, problem } = await exchange(service, key);
  return status === 200 ? 200 : `${status} ${problem?.detail}`;
}

export const expired = '401 This API key has expired.';
export const revoked = '401 This API key is revoked.';

/** Adds a group to the account, announced by an event. */
export async function addGroup(service: TestService, accountId: string): Promise<string> {
  const id = newId('group');
  await service.db.query('INSERT INTO known_groups VALUES ($1, $2)', [id, accountId]);
  return id;
}

/** Inserts keys of an account that are live, and older ones of which half were revoked and half have expired. */
export const fillKeys = (service: TestService, accountId: string, live: number, dead: number) =>
  service.db.query(
    `INSERT INTO api_keys (id, account_id, name, access_key_id, secret_hash, role, type, readonly, group_scope, created_at,
       revoked_at, expires_at)
     SELECT 'key_' || lpad(n::text, 8, '0') || '-0000-7000-8000-' || left(md5($1 || n), 12), $1, 'Row', gen_random_uuid(), '',
       'viewer', 'api', true, 'all', now(), CASE WHEN n <= $3 AND n % 2 = 0 THEN now() END,
       CASE WHEN n <= $3 AND n % 2 = 1 THEN now() - interval '1 day' END FROM generate_series(1, $2::int + $3::int) AS n`,
    [accountId, live, dead],
  );

/** Moves a key's creation back, with the expiry it may have. */
export const age = (service: TestService, key: { id: string }, days: number) =>
  service.db.query(
    `UPDATE api_keys SET created_at = created_at - make_interval(days => $2),
       expires_at = expires_at - make_interval(days => $2) WHERE id = $1`,
    [key.id, days],
  );

interface AuditRow {
  readonly action: string;
  readonly outcome: string;
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly details: Record<string, unknown>;
}

/** The audit records about a subject, oldest first. */
export const auditRecordsOn = (service: TestService, subjectId: string) =>
  rows<AuditRow>(
    service,
    `SELECT action, outcome, actor_type, actor_id, details FROM audit_log WHERE subject_id = $1 ORDER BY id`,
    subjectId,
  );

/** The events that were published for an account's keys, oldest first, when the outbox is empty. */
export async function keyEvents(service: TestService, accountId: string) {
  await eventually(async () => {
    if ((await count(service, 'outbox')) > 0) throw new Error('Something waits to be published');
  });
  return service.published
    .filter(({ account_id, type }) => account_id === accountId && type.startsWith('api_key.'))
    .map(({ type, data }) => ({ type, data }));
}
