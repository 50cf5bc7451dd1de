import type { Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import { Prisma } from '../generated/prisma/client.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import type { Grant } from './api-key.ts';

/** A key with its grants, sorted by group. */
export type ApiKeyRow = Prisma.ApiKeyGetPayload<object> & { readonly grants: readonly Grant[] };

type Reader = Pick<Tx, '$queryRaw'>;

/** One statement for any number of keys and grants. */
const selectKeys = (tx: Reader, where: Prisma.Sql): Promise<ApiKeyRow[]> =>
  tx.$queryRaw<ApiKeyRow[]>`
    SELECT k.*, coalesce((
      SELECT json_agg(json_build_object('group_id', g.group_id, 'role', g.role) ORDER BY g.group_id)
      FROM api_key_grants AS g WHERE g.api_key_id = k.id), '[]') AS grants
    FROM api_keys AS k WHERE ${where} ORDER BY k.id DESC`;

async function insertGrants(tx: Tx, keyId: string, groups: readonly Grant[]): Promise<readonly Grant[]> {
  const grants = groups.map(({ group_id, role }) => ({ group_id, role }));
  if (grants.length > 0)
    await tx.apiKeyGrant.createMany({ data: grants.map((grant) => ({ ...grant, api_key_id: keyId })) });
  return grants.sort((a, b) => (a.group_id < b.group_id ? -1 : 1));
}

export interface NewKey {
  readonly accountId: string;
  readonly name: string;
  readonly accessKeyId: string;
  readonly secretHash: string;
  readonly role: 'viewer' | 'member' | 'admin';
  readonly type: 'api' | 'sim' | 'production';
  readonly readonly: boolean;
  readonly group_scope: 'all' | 'selected';
  readonly groups: readonly Grant[];
  readonly createdBy: string | null;
  readonly expiresAt: Date | null;
  readonly now: Date;
}

/** A viewer key is always read-only, whatever the request says (decision 21). */
export const readonlyFor = (role: string, requested: boolean) => role === 'viewer' || requested;

export async function insertApiKey(tx: Tx, key: NewKey): Promise<ApiKeyRow> {
  const row = await tx.apiKey.create({
    data: {
      id: newId('api_key'),
      account_id: key.accountId,
      name: key.name,
      access_key_id: key.accessKeyId,
      secret_hash: key.secretHash,
      role: key.role,
      type: key.type,
      readonly: readonlyFor(key.role, key.readonly),
      group_scope: key.group_scope,
      created_by: key.createdBy,
      expires_at: key.expiresAt,
      created_at: key.now,
    },
  });
  return { ...row, grants: await insertGrants(tx, row.id, key.groups) };
}

/** About a key: neither revoked nor expired. A rotated one lives until its grace ends. */
const isLive = (now: Date) => Prisma.sql`(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now}))`;

/** Keys that work no more, in a list. An account may make any number of them. */
const mostListedDead = 200;

/** All keys that are live, and the newest of the others. */
export const findApiKeys = (
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  accountId: string,
  now: Date,
): Promise<ApiKeyRow[]> =>
  selectKeys(
    prisma,
    Prisma.sql`k.account_id = ${accountId} AND (${isLive(now)} OR k.id IN (
      SELECT id FROM api_keys WHERE account_id = ${accountId} AND NOT ${isLive(now)}
      ORDER BY id DESC LIMIT ${mostListedDead}))`,
  );

export async function findApiKey(tx: Reader, accountId: string, id: string): Promise<ApiKeyRow | undefined> {
  return (await selectKeys(tx, Prisma.sql`k.id = ${id} AND k.account_id = ${accountId}`))[0];
}

/** Locks the key, so that a change is decided on its current state. */
export async function lockApiKey(tx: Tx, accountId: string, id: string): Promise<ApiKeyRow | undefined> {
  await tx.$queryRaw`SELECT 1 FROM api_keys WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  return findApiKey(tx, accountId, id);
}

interface KeyChange {
  readonly name?: string;
  readonly readonly?: boolean;
  readonly group_scope?: 'all' | 'selected';
  readonly expires_at?: Date | null;
}

/** Changes a locked key. `groups`, if given, replaces all grants. */
export async function changeApiKey(
  tx: Tx,
  { id, grants }: ApiKeyRow,
  change: KeyChange,
  groups: readonly Grant[] | undefined,
): Promise<ApiKeyRow> {
  const row = await tx.apiKey.update({ where: { id }, data: change });
  if (!groups) return { ...row, grants };
  await tx.apiKeyGrant.deleteMany({ where: { api_key_id: id } });
  return { ...row, grants: await insertGrants(tx, id, groups) };
}

/** Marks a key as revoked, or as rotated with the time at which its grace period ends. */
export async function endApiKey(
  tx: Tx,
  id: string,
  end: { revoked_at: Date } | { rotated_at: Date; expires_at: Date },
): Promise<void> {
  await tx.apiKey.update({ where: { id }, data: end, select: { id: true } });
}

/** Revokes the expired machine key of this type, if there is one, and returns its id. */
export async function revokeExpiredMachineKey(
  tx: Tx,
  { accountId, type, now }: { accountId: string; type: 'sim' | 'production'; now: Date },
): Promise<string | undefined> {
  const [expired] = await tx.apiKey.updateManyAndReturn({
    where: { account_id: accountId, type, revoked_at: null, rotated_at: null, expires_at: { lte: now } },
    data: { revoked_at: now },
    select: { id: true },
  });
  return expired?.id;
}

/** The columns of a key that the token exchange needs. */
export interface ExchangeRow {
  readonly id: string;
  readonly account_id: string;
  readonly secret_hash: string;
  readonly role: 'viewer' | 'member' | 'admin';
  readonly type: 'api' | 'sim' | 'production';
  readonly readonly: boolean;
  readonly group_scope: 'all' | 'selected';
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly account_status: 'active' | 'suspended' | 'closed';
  readonly account_type: string;
  readonly groups: Readonly<Record<string, 'a' | 'm'>>;
}

/** Prepared SQL instead of Prisma, because every machine exchanges its key every 15 minutes. */
const exchange = `
  SELECT k.id, k.account_id, k.secret_hash, k.role, k.type, k.readonly, k.group_scope, k.expires_at, k.revoked_at,
    a.status AS account_status, a.account_type_key AS account_type,
    CASE WHEN k.group_scope = 'all' THEN '{}' ELSE
      (SELECT coalesce(json_object_agg(group_id, role), '{}') FROM api_key_grants WHERE api_key_id = k.id)
    END AS groups
  FROM api_keys k JOIN accounts a ON a.id = k.account_id
  WHERE k.access_key_id = $1`;

export async function findForExchange(
  { pool }: Pick<AccountDatabase, 'pool'>,
  accessKeyId: string,
): Promise<ExchangeRow | undefined> {
  const { rows } = await pool.query<ExchangeRow>({ name: 'exchange-api-key', text: exchange, values: [accessKeyId] });
  return rows[0];
}

/**
 * Moves `last_used_at` forward for keys where it is at least a minute old (decision 29), and returns the ids of those
 * keys.
 */
export async function touchApiKeys(tx: Sql, uses: readonly { keyId: string; at: Date }[]): Promise<Set<string>> {
  const ids = uses.map(({ keyId }) => keyId);
  const times = uses.map(({ at }) => at);
  const touched = await tx.$queryRaw<{ id: string }[]>`
    UPDATE api_keys k SET last_used_at = used.at
    FROM unnest(${ids}::text[], ${times}::timestamptz[]) AS used (id, at)
    WHERE k.id = used.id AND (k.last_used_at IS NULL OR k.last_used_at <= used.at - interval '1 minute')
    RETURNING k.id`;
  return new Set(touched.map(({ id }) => id));
}

/** Keys of an account that can be exchanged, now or until a later rotation. Nobody else creates one until the commit. */
export async function countLiveKeys(tx: Reader, accountId: string, now: Date): Promise<number> {
  await tx.$queryRaw`SELECT pg_advisory_xact_lock(hashtextextended(${accountId}, 7))::text`;
  const [row] = await tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM api_keys
    WHERE account_id = ${accountId} AND ${isLive(now)}`;
  return row?.count ?? 0;
}
