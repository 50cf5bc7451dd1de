import type { AuditEntry, CallerName } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import type { RequestContext } from '@attribution/http';
import { newUuid } from '@attribution/ids';
import type { Prisma } from '../generated/prisma/client.ts';
import type { AccountDatabase } from '../store.ts';

/** Who performed the action. `unknown` is a caller who did not prove who they are. */
export interface Actor {
  readonly type: 'person' | 'api_key' | 'service' | 'support' | 'unknown';
  readonly id: string | null;
}

export interface AuditRecord {
  /** null when no account is concerned, for example after a login with an unknown address. */
  readonly accountId: string | null;
  /** `<subject>.<action>`, for example `api_key.created`. */
  readonly action: string;
  readonly outcome?: 'done' | 'refused';
  readonly actor: Actor;
  readonly subject?: { readonly type: string; readonly id: string };
  /** Further details; never a secret, a code or a password. */
  readonly details?: Prisma.InputJsonObject;
  /** Absent when a job performed the action. */
  readonly request?: Pick<RequestContext, 'id' | 'platformId' | 'ip' | 'userAgent'>;
  readonly now: Date;
}

export const person = (id: string): Actor => ({ type: 'person', id });
export const serviceActor = (id: CallerName): Actor => ({ type: 'service', id });

/** The actor for a caller who has not proved who they are. */
export const unknownActor: Actor = { type: 'unknown', id: null };

/**
 * One statement with one parameter for any number of records, because Prisma's transactions and prepared SQL can both
 * send it.
 */
const insert = `
  INSERT INTO audit_log (id, account_id, occurred_at, action, outcome, actor_type, actor_id, subject_type, subject_id,
    ip, user_agent, request_id, platform_request_id, details)
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS record (id uuid, account_id text, occurred_at timestamptz, action text,
    outcome "AuditOutcome", actor_type text, actor_id text, subject_type text, subject_id text,
    ip text, user_agent text, request_id text, platform_request_id uuid, details jsonb)
  ON CONFLICT (id) DO NOTHING`;

/** Writes to the audit log. A record of a change belongs in the transaction of that change; a refusal has its own. */
export async function audit(
  tx: Pick<SqlTransaction, '$executeRawUnsafe'>,
  ...records: readonly AuditRecord[]
): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map(({ accountId, action, outcome = 'done', actor, subject, details = {}, request, now }) => ({
    id: newUuid(),
    account_id: accountId,
    occurred_at: now,
    action,
    outcome,
    actor_type: actor.type,
    actor_id: actor.id,
    subject_type: subject?.type ?? null,
    subject_id: subject?.id ?? null,
    ip: request?.ip ?? null,
    user_agent: request?.userAgent ?? null,
    request_id: request?.id ?? null,
    platform_request_id: request?.platformId ?? null,
    details,
  }));
  await tx.$executeRawUnsafe(insert, JSON.stringify(rows));
}

/** Writes records that come from elsewhere. One that the log has already, it keeps as it is. */
export async function keepEntries(
  tx: Pick<SqlTransaction, '$executeRawUnsafe'>,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const rows = entries.map(({ actor, subject, ...entry }) => ({
    ...entry,
    actor_type: actor.type,
    actor_id: actor.id,
    subject_type: subject?.type ?? null,
    subject_id: subject?.id ?? null,
  }));
  await tx.$executeRawUnsafe(insert, JSON.stringify(rows));
}

export type AuditRow = Prisma.AuditRecordGetPayload<object>;

interface AuditFilter {
  readonly limit: number;
  readonly before: string | undefined;
  readonly action: string | undefined;
  readonly actor: string | undefined;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** Newest first, which is descending by id because ids are ordered by time. */
export async function findAuditRecords(
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  accountId: string,
  { limit, before, action, actor, from, to }: AuditFilter,
): Promise<AuditRow[]> {
  return prisma.auditRecord.findMany({
    where: {
      account_id: accountId,
      ...(before !== undefined && { id: { lt: before } }),
      ...(action !== undefined && { action }),
      ...(actor !== undefined && { actor_id: actor }),
      ...((from || to) && { occurred_at: { ...(from && { gte: from }), ...(to && { lte: to }) } }),
    },
    orderBy: { id: 'desc' },
    take: limit,
  });
}
