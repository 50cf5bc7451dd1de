import { isDeepStrictEqual } from 'node:util';
import { auditActor, type Principal } from '@attribution/auth';
import {
  type AuditEntry,
  auditEvents,
  type auditKeeper,
  type Endpoint,
  type IdKind,
  idPrefixes,
  type Problem,
  type ServiceName,
} from '@attribution/contracts';
import type { Database, SqlTransaction } from '@attribution/database';
import type { RequestContext } from '@attribution/http';
import { newUuid } from '@attribution/ids';
import { type NewEvent, newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';

/** Writes audit records in a transaction: into the log itself where it is kept, elsewhere into the outbox on their way to it. */
export type WriteAudit = (tx: SqlTransaction, entries: readonly AuditEntry[]) => Promise<void>;

/** Appends records as events, which the service with the audit log handles. */
export function auditByEvents(name: ServiceName, outbox: Outbox): WriteAudit | undefined {
  const type = auditEvents[name];
  return (
    type &&
    ((tx, entries) =>
      outbox.append(
        tx,
        ...entries.map((entry) =>
          newEvent(type, entry, { accountId: entry.account_id, occurredAt: new Date(entry.occurred_at) }),
        ),
      ))
  );
}

/** What a job has done, or a service by an Internal endpoint, in an account. */
interface Deed extends Pick<AuditEntry, 'action' | 'actor' | 'subject' | 'details'> {
  readonly accountId: string;
  /** Absent when a job did it. */
  readonly request?: RequestContext;
  readonly now: Date;
}

const requestFields = (request: RequestContext | undefined) => ({
  ip: request?.ip.slice(0, 64) ?? null,
  user_agent: request?.userAgent ?? null,
  request_id: request?.id ?? null,
  platform_request_id: request?.platformId ?? null,
});

/** The record of a deed, for the outbox of the service. Requests of people and keys need none: the app records them. */
export function newAuditEvent(service: Exclude<ServiceName, typeof auditKeeper>, deed: Deed): NewEvent {
  const type = auditEvents[service];
  if (!type) throw new Error(`${service} has no audit records`);
  const { accountId, now, request, ...rest } = deed;
  const entry = {
    id: newUuid(),
    account_id: accountId,
    occurred_at: now.toISOString(),
    outcome: 'done' as const,
    ...rest,
    ...requestFields(request),
  };
  return newEvent(type, entry, { accountId, occurredAt: now });
}

/** What a handler adds to the record of its request. */
export interface AuditNote {
  /** The names of the fields that the request has changed. Default: the names of those that it sent. */
  readonly changed?: readonly string[];
}

/** Says what the record of the request says. The last call holds. */
export type NoteChanges = (note: AuditNote) => void;

/** The names of the fields whose values differ. */
export const changedFields = <T extends object>(before: T, after: T): readonly string[] =>
  Object.keys(after).filter((name) => !isDeepStrictEqual(after[name as keyof T], before[name as keyof T]));

/** A request whose success is recorded. */
export interface RecordedRequest {
  readonly contract: Endpoint;
  readonly caller: Principal;
  readonly params: unknown;
  readonly body: unknown;
  readonly request: RequestContext;
}

/** Records the requests of a service. The app calls it, so that no endpoint has to. */
export interface AuditRecorder {
  /** In the transaction of the effect. */
  record(tx: SqlTransaction, done: RecordedRequest, result: unknown, note: AuditNote): Promise<void>;
  /** In a transaction of its own: before an export, and after an effect in another system. `id` is the same for a repetition. */
  recordAlone(done: RecordedRequest, result?: unknown, id?: string): Promise<void>;
  /** Writes records of refusals. */
  refusals(entries: readonly AuditEntry[]): Promise<void>;
}

export function createAuditRecorder<Tx extends SqlTransaction>(options: {
  readonly database: Pick<Database<SqlTransaction, Tx>, 'sqlTransaction'>;
  readonly write: WriteAudit;
  readonly clock: Clock;
}): AuditRecorder {
  const { database, write, clock } = options;
  return {
    record: (tx, done, result, note) => write(tx, [entryOf(newUuid(), done, result, note, clock.now())]),
    recordAlone: (done, result, id = newUuid()) =>
      database.sqlTransaction((tx) => write(tx, [entryOf(id, done, result, {}, clock.now())])),
    refusals: (entries) => database.sqlTransaction((tx) => write(tx, entries)),
  };
}

const audited = new WeakSet<Problem>();

/** Marks a refusal that its handler has recorded itself, so that it has no second record. */
export function markAudited(problem: Problem): Problem {
  audited.add(problem);
  return problem;
}

export const isAudited = (problem: Problem): boolean => audited.has(problem);

const kinds = new Map(Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind as IdKind] as const));

/** What an id is the id of; for the id of another system what the path calls it. */
function subjectOf({ path }: Endpoint, params: unknown, result: unknown): AuditEntry['subject'] {
  const { id = (result as { id?: unknown } | undefined)?.id } = (params ?? {}) as { id?: unknown };
  if (typeof id !== 'string' || /\p{Cc}/u.test(id)) return null; // The database stores no NUL.
  const named = path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{'));
  return { type: kinds.get(id.slice(0, id.indexOf('_')) as never) ?? named.at(-1) ?? 'unknown', id: id.slice(0, 300) };
}

/** The subject of a request that was refused, if its path names one by a valid id. Nothing else of the request is known. */
export const refusedSubject = (contract: Endpoint, params: unknown): AuditEntry['subject'] =>
  subjectOf(contract, contract.params?.safeParse(params).data, undefined);

/** Names of fields come from the contract, so they are few and short. */
const fieldsOf = (body: unknown): readonly string[] | undefined =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.keys(body) : undefined;

function entryOf(
  id: string,
  { contract, caller, params, body, request }: RecordedRequest,
  result: unknown,
  { changed = fieldsOf(body) }: AuditNote,
  now: Date,
): AuditEntry {
  return {
    id,
    account_id: caller.accountId,
    occurred_at: now.toISOString(),
    action: contract.operation,
    outcome: 'done',
    actor: auditActor(caller),
    subject: subjectOf(contract, params, result),
    ...requestFields(request),
    details: { ...(changed && { changed }) },
  };
}
