import type { Principal } from '@attribution/auth';
import type { ServiceName } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import type { RequestContext } from '@attribution/http';
import { newUuid } from '@attribution/ids';
import type { Prisma } from '../generated/prisma/client.ts';
import type { AccountDatabase } from '../store.ts';

/** Who did it. `unknown`: somebody who did not prove who they are. */
export interface Actor {
  readonly type: 'person' | 'api_key' | 'service' | 'support' | 'unknown';
  readonly id: string | null;
}

export interface Deed {
  /** null: no account is concerned, as of a login with an unknown address. */
  readonly accountId: string | null;
  /** `<subject>.<what was done>`, as `api_key.created`. */
  readonly action: string;
  readonly outcome?: 'done' | 'refused';
  readonly actor: Actor;
  readonly subject?: { readonly type: string; readonly id: string };
  /** What else is worth knowing; never a secret, a code or a password. */
  readonly details?: Prisma.InputJsonObject;
  /** Absent of jobs. */
  readonly request?: Pick<RequestContext, 'id' | 'ip' | 'userAgent'>;
  readonly now: Date;
}

const actorTypes = { person: 'person', key: 'api_key', support: 'support' } as const;

export const actorOf = ({ kind, id }: Principal): Actor => ({ type: actorTypes[kind], id });
export const person = (id: string): Actor => ({ type: 'person', id });
export const serviceActor = (id: ServiceName): Actor => ({ type: 'service', id });

/** Somebody who has not proved who they are. */
export const nobody: Actor = { type: 'unknown', id: null };

/** One statement of one parameter, however many records there are; Prisma's transactions and prepared SQL both send it. */
const insert = `
  INSERT INTO audit_log (id, account_id, occurred_at, action, outcome, actor_type, actor_id, subject_type, subject_id,
    ip, user_agent, request_id, details)
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS record (id uuid, account_id text, occurred_at timestamptz, action text,
    outcome "AuditOutcome", actor_type text, actor_id text, subject_type text, subject_id text,
    ip text, user_agent text, request_id text, details jsonb)`;

/** Writes to the audit log: in the transaction of what it tells of; a refusal, by itself. */
export async function audit(tx: Pick<SqlTransaction, '$executeRawUnsafe'>, ...deeds: readonly Deed[]): Promise<void> {
  if (deeds.length === 0) return;
  const records = deeds.map(({ accountId, action, outcome = 'done', actor, subject, details = {}, request, now }) => ({
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
    details,
  }));
  await tx.$executeRawUnsafe(insert, JSON.stringify(records));
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

/** Newest first: ids are made in the order of time. */
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
