import type { AuditEntry } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { rows } from './support.ts';

interface AuditRow {
  readonly account_id: string | null;
  readonly action: string;
  readonly outcome: 'done' | 'refused';
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly subject_id: string | null;
  readonly ip: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The audit records that were written during the work, oldest first. */
export async function auditRecordsOf(service: TestService, work: () => Promise<unknown>): Promise<AuditRow[]> {
  const [last] = await rows<{ id: string }>(service, 'SELECT max(id::text) AS id FROM audit_log');
  await work();
  return rows<AuditRow>(
    service,
    `SELECT account_id, action, outcome, actor_type, actor_id, subject_id, ip, details FROM audit_log
     WHERE $1::text IS NULL OR id > $1::uuid ORDER BY id`,
    last?.id ?? null,
  );
}

/** A record of a request that the gateway has refused. */
export const refusedEntry = (account_id = newId('account')): AuditEntry & { outcome: 'refused' } => ({
  ...{ id: newUuid(), account_id, occurred_at: new Date().toISOString(), action: 'create_api_key', outcome: 'refused' },
  ...{ actor: { type: 'api_key', id: newId('api_key') }, subject: null, ip: '203.0.113.9', user_agent: null },
  ...{
    request_id: 'a-request-of-theirs',
    platform_request_id: newUuid(),
    details: { reason: 'Not for keys', count: 3 },
  },
});
