import { AuditRecord } from '@attribution/contracts';
import type { z } from 'zod';
import type { AuditRow } from './audit.store.ts';

const ActorType = AuditRecord.shape.actor.shape.type;

export function viewAuditRecord(row: AuditRow): z.output<typeof AuditRecord> {
  const { subject_type: type, subject_id: id } = row;
  return {
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    action: row.action,
    outcome: row.outcome,
    actor: { type: ActorType.parse(row.actor_type), id: row.actor_id },
    subject: type !== null && id !== null ? { type, id } : null,
    ip: row.ip,
    user_agent: row.user_agent,
    request_id: row.request_id,
    platform_request_id: row.platform_request_id,
    details: row.details as Record<string, unknown>,
  };
}
