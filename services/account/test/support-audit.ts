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
