import { newId } from '@attribution/contracts';
import type { Prisma } from '../generated/prisma/client.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import type { Grant } from './api-key.ts';

const withGrants = { grants: { select: { group_id: true, role: true }, orderBy: { group_id: 'asc' } } } as const;

export type ApiKeyRow = Prisma.ApiKeyGetPayload<{ include: typeof withGrants }>;

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

/** A viewer key is read-only, whatever is asked (decision 21). */
export const readonlyFor = (role: string, asked: boolean) => role === 'viewer' || asked;

const grantRows = (groups: readonly Grant[]) => groups.map(({ group_id, role }) => ({ group_id, role }));

export async function insertApiKey(tx: Tx, key: NewKey): Promise<ApiKeyRow> {
  return tx.apiKey.create({
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
      grants: { createMany: { data: grantRows(key.groups) } },
    },
    include: withGrants,
  });
}

export async function findApiKeys(database: Pick<AccountDatabase, 'prisma'>, accountId: string): Promise<ApiKeyRow[]> {
  return database.prisma.apiKey.findMany({
    where: { account_id: accountId },
    orderBy: { id: 'desc' },
    include: withGrants,
  });
}

export async function findApiKey(tx: Pick<Tx, 'apiKey'>, accountId: string, id: string): Promise<ApiKeyRow | null> {
  return tx.apiKey.findFirst({ where: { id, account_id: accountId }, include: withGrants });
}

/** Locks the key, so that a change is decided on what it is now. */
export async function lockApiKey(tx: Tx, accountId: string, id: string): Promise<ApiKeyRow | null> {
  await tx.$queryRaw`SELECT 1 FROM api_keys WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  return findApiKey(tx, accountId, id);
}

interface KeyChange {
  readonly name?: string;
  readonly readonly?: boolean;
  readonly group_scope?: 'all' | 'selected';
  readonly expires_at?: Date | null;
}

/** `groups`, where given, takes the place of all grants before. */
export async function changeApiKey(tx: Tx, id: string, change: KeyChange, groups?: readonly Grant[]) {
  const grants = groups && { deleteMany: {}, createMany: { data: grantRows(groups) } };
  return tx.apiKey.update({ where: { id }, data: { ...change, ...(grants && { grants }) }, include: withGrants });
}

/** Marks a key as revoked, or as rotated with the end of its grace. */
export async function endApiKey(
  tx: Tx,
  id: string,
  end: { revoked_at: Date } | { rotated_at: Date; expires_at: Date },
): Promise<void> {
  await tx.apiKey.update({ where: { id }, data: end, select: { id: true } });
}

/** Revokes a machine key of that type that has expired; its id, if there was one. */
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

/** A key as its exchange needs it. */
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

/** SQL, as this is asked every quarter of an hour by every machine there is. */
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

/** Moves `last_used_at` forward, where it is a minute old or more (decision 29). */
export async function touchApiKeys(
  { pool }: Pick<AccountDatabase, 'pool'>,
  uses: readonly { id: string; at: Date }[],
): Promise<void> {
  await pool.query(
    `UPDATE api_keys k SET last_used_at = used.at
     FROM unnest($1::text[], $2::timestamptz[]) AS used (id, at)
     WHERE k.id = used.id AND (k.last_used_at IS NULL OR k.last_used_at <= used.at - interval '1 minute')`,
    [uses.map(({ id }) => id), uses.map(({ at }) => at)],
  );
}
